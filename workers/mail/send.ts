import { sendMail } from '#shared/mail/jobs.ts'
import { findMail, noteFailure, noteSent } from '#shared/mail/store.ts'
import { platformHandler } from '#workers/handler.ts'
import { deliver } from '#workers/mail/deliver.ts'

/**
 * Sends a mail of the outbox. A worker that dies between the server's answer and ours sends it twice, under the same Message-ID, by which
 * mail programs show it once.
 */
export default platformHandler(sendMail, async ({ payload, scope }) => {
  const mail = await findMail(scope.db, payload.mailId)
  if (!mail || mail.status === 'sent') return { result: null }
  try {
    await deliver(scope.config, mail)
  } catch (error) {
    await noteFailure(scope.db, mail.id, String((error as Error).message))
    throw error
  }
  await noteSent(scope.db, mail.id)
  return { result: null }
})
