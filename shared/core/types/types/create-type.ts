import { type Scope, within } from '#shared/core/scope/scope.ts'
import { announceTypeChange } from '#shared/core/types/events.ts'
import { createTable } from '#shared/core/types/tables/store.ts'
import { countColumns, schemaOf } from '#shared/core/types/tables/table-names.ts'
import { parseLayoutHints } from '#shared/core/types/types/layout-hints.ts'
import { type TypeInput, type TypeView, toTypeView } from '#shared/core/types/types/schemas.ts'
import { insertType } from '#shared/core/types/types/store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/** Maximum record types of a workspace: each one is a table, and lists of types are not paged by default. */
export const maxTypes = 2_000

/** Creates a record type without fields, and its table. Throws KEY_TAKEN when the key is used, also by a built-in type. */
export async function createType(scope: Scope, { key, label, icon, app, ui }: TypeInput): Promise<TypeView> {
  const { db, workspace } = scope
  const id = newId()
  const insertion = insertType({
    workspaceId: workspace.id,
    id,
    key,
    label,
    icon: icon ?? '',
    app: app ?? '',
    ui: parseLayoutHints(ui ?? null),
    columnCount: countColumns([]),
    maxTypes,
  })
  return db.transaction(async (tx) => {
    const [type] = await tx.query(insertion)
    if (!type) throw problem('VALIDATION_ERROR', `a workspace has at most ${maxTypes} record types`)
    await createTable(tx, schemaOf(workspace.id), key, id)
    await announceTypeChange(within(scope, tx), { id, key, change: 'created' })
    return toTypeView(type)
  })
}
