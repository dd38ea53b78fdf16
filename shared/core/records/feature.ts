import type { Feature } from '#shared/core/automation/feature.ts'
import { recordEvents } from '#shared/core/records/events/event-types.ts'
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
  events: [recordEvents],
  sdkMethods: recordMethods,
} satisfies Feature
