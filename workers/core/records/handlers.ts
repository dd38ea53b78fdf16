import type { feature } from '#shared/core/records/feature.ts'
import changeMatching from '#workers/core/records/change-matching.ts'
import changeRecords from '#workers/core/records/change-records.ts'
import exportRecords from '#workers/core/records/export-records.ts'
import importRecords from '#workers/core/records/import-records.ts'
import type { HandlersOf } from '#workers/platform/jobs/handler.ts'

export const handlers = {
  changeMatching,
  changeRecords,
  exportRecords,
  importRecords,
} satisfies HandlersOf<typeof feature.jobs>
