import type { Scope } from '#shared/core/scope/scope.ts'
import { parseLayoutHints } from '#shared/core/types/types/layout-hints.ts'
import { type TypeChange, type TypeView, toTypeView } from '#shared/core/types/types/schemas.ts'
import { type StoredType, updateType } from '#shared/core/types/types/store.ts'
import { requireRow } from '#shared/platform/kernel/errors.ts'

/** Changes the display properties of a record type, also a built-in one. Omitted properties stay, null clears. Throws NOT_FOUND. */
export async function changeType({ db, workspace }: Scope, key: string, change: TypeChange): Promise<TypeView> {
  const { label = null, ui } = change
  const hints = ui === undefined ? null : parseLayoutHints(ui)
  const texts = [change.icon, change.app].map(textToStore)
  const statement = updateType(workspace.id, key, label, ...texts, hints, textToStore(change.description))
  return toTypeView(requireRow(await db.query<StoredType>(statement)))
}

/** Null leaves the stored text unchanged; empty text clears it. */
const textToStore = (text: string | null | undefined): string | null => (text === undefined ? null : (text ?? ''))
