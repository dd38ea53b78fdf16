import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/**
 * Mails a link by which a password is set anew, when there is a person of this address. A worker looks, so that the caller's answer takes
 * the same time whether there is one or not.
 */
export const mailResetJob = defineJob({
  name: 'people.mail-reset',
  kind: 'people.mail-reset',
  work: 'upkeep',
  app: null,
  pool: 'mail',
  concurrency: 4,
  retry: retryPolicies.transient,
  timeoutSeconds: 30,
  tracked: false,
  payload: schema(t.Object({ email: t.String() })),
  result: schema(t.Null()),
})
