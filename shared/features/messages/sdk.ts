import { defineSdkMethod, type SdkMethod } from '#shared/core/automation/sdk-method.ts'
import { sendMessage } from '#shared/features/messages/sending/send.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** SDK methods for messages; they use the permissions of the run's caller. */
export const messageMethods: readonly SdkMethod[] = [
  defineSdkMethod(
    'messages.send',
    '(message: MessageInput): Promise<{ message_id: string; skipped: boolean }>',
    [['message', schema(t.Unknown())]],
    async ({ scope }, message) => sendMessage(scope, message),
  ),
]
