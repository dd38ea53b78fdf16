import type { Scope } from '#shared/core/scope/scope.ts'
import { definitionViewOf, restoreDefinition } from '#shared/features/flows/definitions/flows.ts'
import type { FlowVersionView, FlowView } from '#shared/features/flows/definitions/schemas.ts'
import { type FlowVersionRow, findVersion, findVersions } from '#shared/features/flows/store.ts'
import { type LinkedPage, type LinkedQuery, readPage, readWholeList } from '#shared/platform/db/lists.ts'
import { makeCursor, readCursor } from '#shared/platform/kernel/cursor.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

const versionPosition = schema(t.Object({ version: t.Integer({ minimum: 1, maximum: 999_999_999 }) }))

/**
 * Lists the kept versions of a flow's definition, newest first. Throws VALIDATION_ERROR for a damaged cursor, and without `limit` for a
 * list above 10 MB.
 */
export async function listVersions(scope: Scope, flowId: string, query: LinkedQuery): Promise<LinkedPage<FlowVersionView>> {
  const { db, workspace } = scope
  const { limit, cursor } = query
  const beforeVersion = cursor === undefined ? null : readCursor(scope, cursor, versionPosition).version
  const statement = findVersions({ workspaceId: workspace.id, flowId, beforeVersion, limit: limit === undefined ? null : limit + 1 })
  if (limit === undefined)
    return { items: (await readWholeList(db, statement, 'ask for pages by limit, 1 to 200')).map(viewOf), next: null }
  const { page, hasMore } = await readPage(db, statement, limit)
  const last = page.at(-1)
  return { items: page.map(viewOf), next: hasMore && last ? makeCursor(scope, { version: last.version }) : null }
}

/**
 * Adds an earlier definition as the newest version, with the caller as its editor. Throws NOT_FOUND for an unknown version, and the errors
 * of `changeFlow`.
 */
export async function restoreVersion(scope: Scope, flowId: string, version: string): Promise<FlowView> {
  const isVersion = /^[1-9]\d{0,8}$/.test(version)
  const [found] = isVersion ? await scope.db.query(findVersion({ workspaceId: scope.workspace.id, flowId, version: Number(version) })) : []
  if (!found) throw problem('NOT_FOUND')
  const { nodes, edges, context } = found
  return restoreDefinition(scope, flowId, { nodes, edges, context })
}

const viewOf = (version: FlowVersionRow): FlowVersionView => ({ ...version, ...definitionViewOf(version) })
