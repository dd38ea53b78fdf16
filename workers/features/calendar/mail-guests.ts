import { queueGuestMails } from '#shared/features/calendar/guests/mail-guests.ts'
import { mailGuestsJob as job } from '#shared/features/calendar/jobs.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'

export default defineHandler(job, async ({ payload, scope, jobId }) => {
  await queueGuestMails(scope, jobId, payload)
  return { result: null }
})
