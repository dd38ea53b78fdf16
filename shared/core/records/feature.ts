import type { Feature } from '#shared/core/automation/feature.ts'
import { changeMatchingJob, changeRecordsJob, exportRecordsJob, importRecordsJob } from '#shared/core/records/jobs.ts'
import { recordMaintenance } from '#shared/core/records/maintenance.ts'
import { recordMethods } from '#shared/core/records/sdk.ts'

export const feature = {
  jobs: {
    changeRecords: changeRecordsJob,
    changeMatching: changeMatchingJob,
    exportRecords: exportRecordsJob,
    importRecords: importRecordsJob,
  },
  maintenance: recordMaintenance,
  sdkMethods: recordMethods,
} satisfies Feature
