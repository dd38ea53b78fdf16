import { defineDue } from '#shared/platform/due/due-kind.ts'
import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** Sends one mail of the outbox; after ten attempts its status is failed (docs/contract/messages.md#delivery). */
export const sendMailJob = defineJob({
  name: 'mail.send',
  work: 'upkeep',
  app: null,
  pool: 'mail',
  concurrency: 16,
  // A slow server of one workspace must leave slots to the others.
  slotsPerWorkspace: 6,
  retry: retryPolicies.patient,
  timeoutSeconds: 180,
  tracked: false,
  payload: schema(t.Object({ mailId: t.String() })),
  result: schema(t.Null()),
})

/** Sends a mail later, after its workspace's suspension or for its second attempt; the subject is the mail's id. */
export const mailDue = defineDue({
  name: 'mail',
  job: sendMailJob,
  payload: ({ subject }) => ({ mailId: subject }),
  work: 'due',
})
