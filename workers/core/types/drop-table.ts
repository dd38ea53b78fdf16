import { dropTableJob } from '#shared/core/types/jobs.ts'
import { dropAsideTable } from '#shared/core/types/tables/store.ts'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import { definePlatformHandler } from '#workers/core/scope/handler.ts'

// A platform handler: the user who deleted the type may have left the workspace, and the workspace may be suspended.
export default definePlatformHandler(dropTableJob, async ({ payload: { workspaceId, typeId }, scope }) => {
  await dropAsideTable(scope.db, schemaOf(workspaceId), typeId)
  return { result: {} }
})
