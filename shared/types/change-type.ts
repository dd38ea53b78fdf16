import { problem } from '#shared/kernel/errors.ts'
import type { Scope } from '#shared/scope/scope.ts'
import { type StoredType, updateType } from '#shared/types/type-store.ts'
import { type TypeChange, type TypeView, viewType } from '#shared/types/type-view.ts'
import { parseUi } from '#shared/types/ui.ts'

/** Changes how a record type is shown, built-in ones too. What is left out stays, null clears. Throws NOT_FOUND. */
export async function changeType({ db, workspace }: Scope, key: string, change: TypeChange): Promise<TypeView> {
  const { label = null, ui } = change
  const hints = ui === undefined ? null : parseUi(ui)
  const texts = [change.icon, change.app].map(textToStore)
  const [type] = await db.query<StoredType>(updateType(workspace.id, key, label, ...texts, hints, textToStore(change.description)))
  if (!type) throw problem('NOT_FOUND')
  return viewType(type)
}

/** The statement keeps what null stands for, and empty text is how nothing is kept. */
const textToStore = (text: string | null | undefined): string | null => (text === undefined ? null : (text ?? ''))
