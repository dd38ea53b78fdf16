import { accountMailDue, mailDue, sendAccountMailJob, sendMailJob } from '#shared/platform/mail/jobs.ts'
import { mailMaintenance } from '#shared/platform/mail/maintenance.ts'
import { mailMetrics } from '#shared/platform/mail/metrics.ts'

export const feature = {
  jobs: { sendMail: sendMailJob, sendAccountMail: sendAccountMailJob },
  dueKinds: [mailDue, accountMailDue],
  maintenance: mailMaintenance,
  metrics: mailMetrics,
}
