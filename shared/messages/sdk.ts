import { type SdkMethod, sdkMethod } from '#shared/functions/sdk/method.ts'
import { schema, t } from '#shared/kernel/schema.ts'
import { sendMessage } from '#shared/messages/send.ts'

/** Messages, under the rights of the run's caller. */
export const messageMethods: readonly SdkMethod[] = [
  sdkMethod(
    'messages.send',
    '(message: MessageInput): Promise<{ message_id: string; skipped: boolean }>',
    [['message', schema(t.Unknown())]],
    async ({ scope }, message) => sendMessage(scope, message),
  ),
]
