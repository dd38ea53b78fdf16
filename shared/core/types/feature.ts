import { typeEvents } from '#shared/core/types/events.ts'
import { changeFieldJob, dropTableJob, recomputeRecordsJob } from '#shared/core/types/jobs.ts'
import { typeMaintenance } from '#shared/core/types/maintenance.ts'

export const feature = {
  jobs: { changeField: changeFieldJob, dropTable: dropTableJob, recomputeRecords: recomputeRecordsJob },
  maintenance: typeMaintenance,
  events: [typeEvents],
}
