import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import { checkFolderKey, nameOfKey, rangeOf } from '#shared/features/drive/objects/key.ts'
import { objectViewOf } from '#shared/features/drive/objects/object.ts'
import { requirePlace } from '#shared/features/drive/objects/place.ts'
import { type FolderEntry, findFolderPage, findObjectsByName } from '#shared/features/drive/objects/store.ts'
import type { FolderPage, FolderQuery } from '#shared/features/drive/schemas.ts'
import { makeCursor, readCursor } from '#shared/platform/kernel/cursor.ts'

/**
 * A page of the folders and files directly in a folder, in the order of their keys; with `q`, a page of the files in the folder and below
 * whose name contains `q`. Throws as `requireSpace` does, and VALIDATION_ERROR for a bad prefix or cursor.
 */
export async function listFolder(scope: Scope, spaceName: string, { limit, cursor, ...query }: FolderQuery): Promise<FolderPage> {
  checkFolderKey(query.prefix, 'prefix', true)
  const { space, key: prefix } = await requirePlace(scope, spaceName, query.prefix, 'read')
  const q = query.q.normalize('NFC')
  const list = `drive ${scope.workspace.id} ${space.id} ${prefix} ${q}`
  const first = cursor === undefined ? firstCursorOf(prefix) : readCursor(list, cursor)
  const read = q === '' ? readLevel : searchByName
  const rows = await read(scope, space.id, prefix, { first, q, limit: limit + 1 })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    folders: page.flatMap(({ folder }) => (folder === null ? [] : [{ prefix: folder, name: nameOfKey(folder) }])),
    objects: page.flatMap((row) => (row.folder === null ? [objectViewOf(row)] : [])),
    ...(rows.length > limit && last ? { cursor: makeCursor(list, cursorAfter(last)) } : {}),
  }
}

interface PageQuery {
  readonly first: string
  readonly q: string
  readonly limit: number
}

const readLevel = (scope: Scope, spaceId: string, prefix: string, { first, limit }: PageQuery): Promise<FolderEntry[]> =>
  readRows(scope, findFolderPage({ workspaceId: scope.workspace.id, spaceId, prefix, first, end: rangeOf(prefix).end, limit }))

async function searchByName(scope: Scope, spaceId: string, prefix: string, page: PageQuery): Promise<FolderEntry[]> {
  const statement = findObjectsByName({ ...page, workspaceId: scope.workspace.id, spaceId, end: rangeOf(prefix).end })
  return (await readRows(scope, statement)).map((row) => ({ ...row, folder: null }))
}

/** The first page starts after the folder's own row, which exists if the folder was created explicitly. */
const firstCursorOf = (prefix: string): string => (prefix === '' ? '' : `${prefix}\u0001`)

const cursorAfter = ({ folder, key }: FolderEntry): string => rangeOf(folder ?? key).end
