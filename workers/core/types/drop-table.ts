import { dropTableJob } from '#shared/core/types/jobs.ts'
import { dropAsideTable } from '#shared/core/types/tables/store.ts'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import { definePlatformHandler } from '#workers/platform/jobs/handler.ts'

// The platform's own work: whoever deleted the type may have left the workspace since, and the workspace may be suspended.
export default definePlatformHandler(dropTableJob, async ({ payload: { workspaceId, typeId }, scope }) => {
  await dropAsideTable(scope.db, schemaOf(workspaceId), typeId)
  return { result: {} }
})
