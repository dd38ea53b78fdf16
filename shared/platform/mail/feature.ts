import { mailDue, sendMail } from '#shared/platform/mail/jobs.ts'
import { mailMaintenance } from '#shared/platform/mail/maintenance.ts'
import { mailMetrics } from '#shared/platform/mail/metrics.ts'

export const feature = { jobs: { sendMail }, dueKinds: [mailDue], maintenance: mailMaintenance, metrics: mailMetrics }
