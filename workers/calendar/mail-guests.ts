import { mailGuests as job } from '#shared/calendar/jobs.ts'
import { mailGuests } from '#shared/calendar/mail-guests.ts'
import { handler } from '#workers/handler.ts'

export default handler(job, async ({ payload, scope, jobId }) => {
  await mailGuests(scope, jobId, payload)
  return { result: null }
})
