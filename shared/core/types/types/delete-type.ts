import { type Scope, within } from '#shared/core/scope/scope.ts'
import { announceTypeChange } from '#shared/core/types/events.ts'
import { dropTableJob } from '#shared/core/types/jobs.ts'
import { changeTable } from '#shared/core/types/tables/change-table.ts'
import { setTableAside } from '#shared/core/types/tables/store.ts'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import { deleteTypeRow, lockType } from '#shared/core/types/types/store.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'

/**
 * Deletes a record type with its fields and records permanently; audit entries stay. The type disappears at once, however many records it
 * has: a worker drops its table later. Throws NOT_FOUND, and FORBIDDEN for a built-in type.
 */
export async function deleteType(scope: Scope, key: string): Promise<void> {
  const { workspace, cause, jobQueue } = scope
  await changeTable(scope, async (tx) => {
    const type = requireRow(await tx.query(lockType({ workspaceId: workspace.id, key })))
    if (type.system) throw problem('FORBIDDEN', `${key} is a built-in record type and cannot be deleted`)
    // Lock order: the table before the rows that refer to the type, as in record writes.
    await setTableAside(tx, schemaOf(workspace.id), key, type.id)
    await tx.query(deleteTypeRow({ workspaceId: workspace.id, id: type.id }))
    await announceTypeChange(within(scope, tx), { id: type.id, key, change: 'deleted' })
    await jobQueue.enqueue(tx, dropTableJob, { workspaceId: workspace.id, cause }, { workspaceId: workspace.id, typeId: type.id })
  })
}
