import { mailResetJob } from '#shared/core/people/jobs.ts'
import { peopleMaintenance } from '#shared/core/people/maintenance.ts'

export const feature = { jobs: { mailReset: mailResetJob }, maintenance: peopleMaintenance }
