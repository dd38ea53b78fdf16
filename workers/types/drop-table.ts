import { dropTable } from '#shared/types/jobs.ts'
import { schemaOf } from '#shared/types/tables.ts'
import { dropAsideTable } from '#shared/types/tables-store.ts'
import { platformHandler } from '#workers/handler.ts'

// The platform's own work: whoever deleted the type may have left the workspace since, and the workspace may be suspended.
export default platformHandler(dropTable, async ({ payload: { workspaceId, typeId }, scope }) => {
  await dropAsideTable(scope.db, schemaOf(workspaceId), typeId)
  return { result: {} }
})
