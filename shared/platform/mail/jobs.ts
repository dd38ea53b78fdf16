import type { Tx } from '#shared/platform/db/database.ts'
import { defineDue } from '#shared/platform/due/due-kind.ts'
import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import type { StoredProblem } from '#shared/platform/kernel/errors.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { accountMailKinds, mailQueue } from '#shared/platform/mail/mail.ts'
import { completeMail } from '#shared/platform/mail/store.ts'

/** What both jobs of mails have in common. After ten attempts a mail's status is failed (docs/contract/messages.md#delivery). */
const sending = {
  work: 'upkeep',
  app: null,
  pool: 'mail',
  retry: retryPolicies.patient,
  timeoutSeconds: 180,
  tracked: false,
  payload: schema(t.Object({ mailId: t.String() })),
  visible: ['mailId'] as const,
  cancel: {
    record: (tx: Tx, { mailId }: { readonly mailId: string }, { message }: StoredProblem, now: Date) =>
      completeMail(tx, mailId, 'failed', message, now),
  },
  result: schema(t.Null()),
} as const

/** Sends one mail of the outbox. */
export const sendMailJob = defineJob({
  ...sending,
  name: mailQueue,
  concurrency: 16,
  // A slow server of one workspace must leave slots to the others.
  slotsPerWorkspace: 6,
})

/** Sends one mail of the kinds without which people cannot get in. */
export const sendAccountMailJob = defineJob({ ...sending, name: 'mail.accounts', concurrency: 8, slotsPerWorkspace: 4, pausable: false })

const payload = ({ subject }: { readonly subject: string }) => ({ mailId: subject })

/** Sends a mail later, after its workspace's suspension or for its second attempt; the subject is the mail's id. */
export const mailDue = defineDue({ name: 'mail', job: sendMailJob, payload, work: 'due' })

/** The same for the kinds of `sendAccountMailJob`. */
export const accountMailDue = defineDue({ name: 'mail.accounts', job: sendAccountMailJob, payload, work: 'due' })

/** The job that sends mails of a kind, and the due kind for later attempts. */
export const jobOfMail = (kind: string) =>
  Object.values<string>(accountMailKinds).includes(kind)
    ? { job: sendAccountMailJob, due: accountMailDue }
    : { job: sendMailJob, due: mailDue }
