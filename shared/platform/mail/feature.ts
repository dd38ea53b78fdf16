import { mailDue, sendMailJob } from '#shared/platform/mail/jobs.ts'
import { mailMaintenance } from '#shared/platform/mail/maintenance.ts'
import { mailMetrics } from '#shared/platform/mail/metrics.ts'

export const feature = { jobs: { sendMail: sendMailJob }, dueKinds: [mailDue], maintenance: mailMaintenance, metrics: mailMetrics }
