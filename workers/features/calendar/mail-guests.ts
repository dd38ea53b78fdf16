import { mailGuests } from '#shared/features/calendar/guests/mail-guests.ts'
import { mailGuests as job } from '#shared/features/calendar/jobs.ts'
import { handler } from '#workers/platform/jobs/handler.ts'

export default handler(job, async ({ payload, scope, jobId }) => {
  await mailGuests(scope, jobId, payload)
  return { result: null }
})
