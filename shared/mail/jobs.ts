import { schema, t } from '#shared/kernel/schema.ts'
import { defineJob, retry } from '#shared/queue/job.ts'

/** Sends one mail of the outbox; after ten tries it is kept as failed (decisions, Forms, website content, messages). */
export const sendMail = defineJob({
  name: 'mail.send',
  kind: 'mail.send',
  pool: 'mail',
  concurrency: 8,
  retry: retry.patient,
  timeoutSeconds: 90,
  tracked: false,
  payload: schema(t.Object({ mailId: t.String() })),
  result: schema(t.Null()),
})
