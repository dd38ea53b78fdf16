import { defineSdkMethod, type SdkMethod } from '#shared/core/automation/sdk-method.ts'
import { messageInput } from '#shared/features/messages/sending/schemas.ts'
import { sendMessage } from '#shared/features/messages/sending/send.ts'

/** SDK methods for messages; they use the permissions of the run's caller. */
export const messageMethods: readonly SdkMethod[] = [
  defineSdkMethod(
    'messages.send',
    '(message: MessageInput): Promise<{ message_id: string; skipped: boolean }>',
    [['message', messageInput]],
    async ({ scope }, message) => sendMessage(scope, message),
  ),
]
