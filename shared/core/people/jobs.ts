import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/**
 * Mails a password reset link if a person has this address. A worker looks the address up, so the response takes the same time whether or
 * not it belongs to a person.
 */
export const mailResetJob = defineJob({
  name: 'people.mail-reset',
  work: 'upkeep',
  app: null,
  pool: 'mail',
  concurrency: 4,
  retry: retryPolicies.transient,
  timeoutSeconds: 30,
  tracked: false,
  pausable: false,
  payload: schema(t.Object({ email: t.String() })),
  result: schema(t.Null()),
})
