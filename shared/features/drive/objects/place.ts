import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import { requireSpace } from '#shared/features/drive/access.ts'
import { checkKey, rangeOf } from '#shared/features/drive/objects/key.ts'
import { findWhetherUsed } from '#shared/features/drive/objects/store.ts'
import type { SpaceRow } from '#shared/features/drive/spaces/store.ts'

/** A key in a space, in the form in which it is stored. */
export interface Place {
  readonly space: SpaceRow
  readonly key: string
}

/**
 * The place of a checked key, if the caller may perform an action there. Keys are stored in NFC, so that a name is found in either Unicode
 * form. Two names from before that rule may differ only in form: a key that is stored exactly as sent stands for itself. Throws as
 * `requireSpace` does, and VALIDATION_ERROR if the key is too long in NFC.
 */
export async function requirePlace(scope: Scope, spaceName: string, key: string, need: 'read' | 'write'): Promise<Place> {
  const composed = key.normalize('NFC')
  if (composed === key) return { space: await requireSpace(scope, spaceName, key, need), key }
  const { id } = await requireSpace(scope, spaceName, null, need)
  const stored = await storedKeyOf(scope, id, key)
  return { space: await requireSpace(scope, spaceName, stored, need), key: stored }
}

/** The key as sent if something is stored under it or below it, else its NFC form. Throws VALIDATION_ERROR if that is too long. */
export async function storedKeyOf(scope: Scope, spaceId: string, key: string, field = 'key'): Promise<string> {
  const composed = key.normalize('NFC')
  if (composed === key) return key
  const [found] = await readRows(scope, findWhetherUsed({ workspaceId: scope.workspace.id, spaceId, ...rangeOf(key) }))
  return found?.is_used ? key : checkKey(composed, field)
}
