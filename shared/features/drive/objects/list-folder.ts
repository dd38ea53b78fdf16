import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import { checkFolderKey, nameOfKey, rangeOf } from '#shared/features/drive/objects/key.ts'
import { objectViewOf } from '#shared/features/drive/objects/object.ts'
import { requirePlace } from '#shared/features/drive/objects/place.ts'
import { type FolderEntry, findFolderPage, findObjectsByName } from '#shared/features/drive/objects/store.ts'
import type { FolderPage, FolderQuery } from '#shared/features/drive/schemas.ts'
import { makeCursor, readCursor } from '#shared/platform/kernel/cursor.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/**
 * A page of the folders and files directly in a folder, in the order of their keys; with `q`, a page of the files in the folder and below
 * whose name contains `q`. Throws as `requireSpace` does, and VALIDATION_ERROR for a bad prefix or cursor.
 */
export async function listFolder(scope: Scope, spaceName: string, { limit, cursor, ...query }: FolderQuery): Promise<FolderPage> {
  checkFolderKey(query.prefix, 'prefix', true)
  const { space, key: prefix } = await requirePlace(scope, spaceName, query.prefix, 'read')
  const q = query.q.normalize('NFC')
  const first = cursor === undefined ? lowestKeyIn(prefix) : readCursor(scope, cursor, keyPosition).key
  const read = q === '' ? readLevel : searchByName
  const rows = await read(scope, space.id, prefix, { first, q, limit: limit + 1 })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    folders: page.flatMap(({ folder }) => (folder === null ? [] : [{ prefix: folder, name: nameOfKey(folder) }])),
    objects: page.flatMap((row) => (row.folder === null ? [objectViewOf(row)] : [])),
    ...(rows.length > limit && last ? { cursor: makeCursor(scope, { key: keyAfter(last) }) } : {}),
  }
}

/** The key from which a page begins. */
const keyPosition = schema(t.Object({ key: t.String() }))

interface PageQuery {
  readonly first: string
  readonly q: string
  readonly limit: number
}

const readLevel = (scope: Scope, spaceId: string, prefix: string, { first, limit }: PageQuery): Promise<FolderEntry[]> =>
  readRows(scope, findFolderPage({ ...spanOf(scope, spaceId, prefix), prefix, first, limit }))

/** The keys of the folder whose access was checked; no position leads out of them. */
const spanOf = ({ workspace }: Scope, spaceId: string, prefix: string) => ({
  workspaceId: workspace.id,
  spaceId,
  lowest: lowestKeyIn(prefix),
  end: rangeOf(prefix).end,
})

async function searchByName(scope: Scope, spaceId: string, prefix: string, page: PageQuery): Promise<FolderEntry[]> {
  const statement = findObjectsByName({ ...spanOf(scope, spaceId, prefix), ...page })
  return (await readRows(scope, statement)).map((row) => ({ ...row, folder: null }))
}

/** The lowest key that a folder lists: its own row, which exists if the folder was created explicitly, comes before. */
const lowestKeyIn = (prefix: string): string => (prefix === '' ? '' : `${prefix}\u0001`)

const keyAfter = ({ folder, key }: FolderEntry): string => rangeOf(folder ?? key).end
