import { defineDue } from '#shared/due/kind.ts'
import { schema, t } from '#shared/kernel/schema.ts'
import { defineJob, retry } from '#shared/queue/job.ts'

/** Sends one mail of the outbox; after ten tries it is kept as failed (decisions, Forms, website content, messages). */
export const sendMail = defineJob({
  name: 'mail.send',
  kind: 'mail.send',
  work: 'upkeep',
  app: null,
  pool: 'mail',
  concurrency: 16,
  // A server that keeps its clients waiting is one workspace's: others find slots.
  slotsPerWorkspace: 6,
  retry: retry.patient,
  timeoutSeconds: 180,
  tracked: false,
  payload: schema(t.Object({ mailId: t.String() })),
  result: schema(t.Null()),
})

/** Sends a mail at a later time, by its id: one that waits while its workspace is suspended, or for its second try. */
export const mailDue = defineDue({
  name: 'mail',
  job: sendMail,
  payload: ({ subject }) => ({ mailId: subject }),
  work: 'due',
})
