import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import { requireSpace } from '#shared/features/drive/access.ts'
import { checkFolderKey, nameOfKey, rangeOf } from '#shared/features/drive/objects/key.ts'
import { type ObjectRow, objectViewOf } from '#shared/features/drive/objects/object.ts'
import { findFolderPage, findObjectsByName } from '#shared/features/drive/objects/store.ts'
import type { FolderPage, FolderQuery } from '#shared/features/drive/schemas.ts'
import { makeCursor, readCursor } from '#shared/platform/kernel/cursor.ts'

/**
 * A page of the folders and files directly in a folder, in the order of their keys; with `q`, a page of the files in the folder and below
 * whose name contains `q`. Throws as `requireSpace` does, and VALIDATION_ERROR for a bad prefix or cursor.
 */
export async function listFolder(scope: Scope, spaceName: string, { prefix, q, limit, cursor }: FolderQuery): Promise<FolderPage> {
  checkFolderKey(prefix, 'prefix', true)
  const space = await requireSpace(scope, spaceName, prefix, 'read')
  const list = `drive ${scope.workspace.id} ${space.id} ${prefix} ${q}`
  const from = cursor === undefined ? firstCursorOf(prefix) : readCursor(list, cursor)
  const read = q === '' ? readLevel : searchByName
  const rows = await read(scope, space.id, prefix, { from, q, limit: limit + 1 })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    folders: page.flatMap(({ folder }) => (folder === null ? [] : [{ prefix: folder, name: nameOfKey(folder) }])),
    objects: page.flatMap((row) => (row.folder === null ? [objectViewOf(row)] : [])),
    ...(rows.length > limit && last ? { cursor: makeCursor(list, cursorAfter(last)) } : {}),
  }
}

type Entry = ObjectRow & { readonly folder: string | null }

interface PageQuery {
  readonly from: string
  readonly q: string
  readonly limit: number
}

const readLevel = ({ db, verification, workspace }: Scope, spaceId: string, prefix: string, { from, limit }: PageQuery): Promise<Entry[]> =>
  readRows<Entry>({ db, verification }, findFolderPage(workspace.id, spaceId, prefix, from, rangeOf(prefix).end, limit))

async function searchByName({ db, verification, workspace }: Scope, spaceId: string, prefix: string, page: PageQuery): Promise<Entry[]> {
  const { from, q, limit } = page
  const statement = findObjectsByName(workspace.id, spaceId, from, rangeOf(prefix).end, q, limit)
  return (await readRows<ObjectRow>({ db, verification }, statement)).map((row) => ({ ...row, folder: null }))
}

/** The first page starts after the folder's own row, which exists if the folder was created explicitly. */
const firstCursorOf = (prefix: string): string => (prefix === '' ? '' : `${prefix}\u0001`)

const cursorAfter = ({ folder, key }: Entry): string => rangeOf(folder ?? key).end
