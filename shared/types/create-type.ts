import { problem } from '#shared/kernel/errors.ts'
import { newId } from '#shared/kernel/ids.ts'
import type { Scope } from '#shared/scope/scope.ts'
import { countColumns, schemaOf } from '#shared/types/tables.ts'
import { createTable } from '#shared/types/tables-store.ts'
import { insertType, type StoredType } from '#shared/types/type-store.ts'
import { type TypeInput, type TypeView, viewType } from '#shared/types/type-view.ts'
import { parseUi } from '#shared/types/ui.ts'

/** Record types that a workspace may have: every one is a table, and lists of types come whole. */
export const maxTypes = 2_000

/** Makes a record type without fields and the table for its records. Throws KEY_TAKEN when the key is used, also by a built-in type. */
export async function createType({ db, workspace }: Scope, { key, label, icon, app, ui }: TypeInput): Promise<TypeView> {
  const id = newId()
  const values = [workspace.id, id, key, label, icon ?? '', app ?? '', parseUi(ui ?? null), countColumns([]), maxTypes]
  return db.transaction(async (tx) => {
    const [type] = await tx.query<StoredType>(insertType(...values))
    if (!type) throw problem('VALIDATION_ERROR', `a workspace has at most ${maxTypes} record types`)
    await createTable(tx, schemaOf(workspace.id), key, id)
    return viewType(type)
  })
}
