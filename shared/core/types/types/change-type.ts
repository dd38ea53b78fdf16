import { type Scope, within } from '#shared/core/scope/scope.ts'
import { announceTypeChange } from '#shared/core/types/events.ts'
import { parseLayoutHints } from '#shared/core/types/types/layout-hints.ts'
import { type TypeChange, type TypeView, toTypeView } from '#shared/core/types/types/schemas.ts'
import { updateType } from '#shared/core/types/types/store.ts'
import { requireRow } from '#shared/platform/kernel/errors.ts'

/**
 * Changes the display properties of a record type, also of a built-in one. Omitted properties stay unchanged; null clears any property but
 * the label. Throws NOT_FOUND.
 */
export async function changeType(scope: Scope, key: string, change: TypeChange): Promise<TypeView> {
  const { db, workspace } = scope
  const { label, icon, app, ui, description } = change
  const statement = updateType({
    workspaceId: workspace.id,
    key,
    label,
    icon: textToStore(icon),
    app: textToStore(app),
    ui: ui === undefined ? null : parseLayoutHints(ui),
    description: textToStore(description),
  })
  return db.transaction(async (tx) => {
    const { differs, ...type } = requireRow(await tx.query(statement))
    if (differs) await announceTypeChange(within(scope, tx), { id: type.id, key, change: 'updated' })
    return toTypeView(type)
  })
}

/** Null leaves the stored text unchanged; empty text clears it. */
const textToStore = (text: string | null | undefined): string | null => (text === undefined ? null : (text ?? ''))
