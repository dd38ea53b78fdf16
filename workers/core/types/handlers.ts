import type { feature } from '#shared/core/types/feature.ts'
import changeField from '#workers/core/types/change-field.ts'
import dropTable from '#workers/core/types/drop-table.ts'
import recomputeRecords from '#workers/core/types/recompute-records.ts'
import type { HandlersOf } from '#workers/platform/jobs/handler.ts'

export const handlers = {
  changeField,
  dropTable,
  recomputeRecords,
} satisfies HandlersOf<typeof feature.jobs>
