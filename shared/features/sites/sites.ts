import { permits } from '#shared/core/scope/access.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { addWarnings, findVisitorWarnings } from '#shared/core/scope/visitor-warnings.ts'
import { addUsage } from '#shared/features/drive/quota.ts'
import { assetsKey, type Site, type SiteChange, type SiteInput } from '#shared/features/sites/schemas.ts'
import {
  deleteSite,
  ensureAssets,
  findAssets,
  findSite,
  findSites,
  insertSite,
  lockSite,
  updateSite,
} from '#shared/features/sites/store.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'

/** The websites that the caller may manage, oldest first. */
export async function listSites(scope: Scope): Promise<Site[]> {
  const { db, workspace } = scope
  const sites = await db.query(findSites({ workspaceId: workspace.id }))
  return sites.filter(({ key }) => permits(scope, 'content:manage', key))
}

/** One website; throws NOT_FOUND. */
export async function getSite({ db, workspace }: Scope, id: string): Promise<Site> {
  return requireRow(isUuid(id) ? await db.query(findSite({ workspaceId: workspace.id, id })) : [])
}

/** Creates a website. Throws KEY_TAKEN, and VALIDATION_ERROR for the key `assets`. */
export async function createSite(scope: Scope, { key, name, published = false }: SiteInput): Promise<Site> {
  const { db, workspace, now } = scope
  refuseAssets(key)
  const site = { workspaceId: workspace.id, id: newId(), key, name: name.trim(), published, createdAt: now() }
  return withWarnings(scope, requireRow(await db.query(insertSite(site))))
}

/** Adds warnings to a saved website: why visitors cannot reach it although it is published. */
const withWarnings = async (scope: Scope, site: Site): Promise<Site> =>
  addWarnings(site, site.published ? await findVisitorWarnings(scope, ['content:deliver'], site.key) : [])

/** Changes the given fields of a website. Throws NOT_FOUND, and as `createSite` does. */
export async function changeSite(scope: Scope, id: string, { key, name, published }: SiteChange): Promise<Site> {
  const { db, workspace, now } = scope
  if (!isUuid(id)) throw problem('NOT_FOUND')
  if (key !== undefined) refuseAssets(key)
  const change = { workspaceId: workspace.id, id, key, name: name?.trim(), published, updatedAt: now() }
  return withWarnings(scope, requireRow(await db.query(updateSite(change))))
}

/** Deletes a website with its content. Throws NOT_FOUND. */
export async function removeSite(scope: Scope, id: string): Promise<void> {
  if (!isUuid(id)) throw problem('NOT_FOUND')
  await scope.db.transaction(async (tx) => {
    // The lock waits for writes in progress, so that their bytes are counted below.
    requireRow(await tx.query(lockSite({ workspaceId: scope.workspace.id, id })))
    const { bytes } = requireRow(await tx.query(deleteSite({ workspaceId: scope.workspace.id, id })))
    await addUsage(within(scope, tx), -bytes)
  })
}

/** The id of the hidden website that holds the shared files; undefined before its creation. `make` creates it. */
export async function findAssetsId({ db, workspace, now }: Scope, { make }: { readonly make: boolean }): Promise<string | undefined> {
  if (make) await db.query(ensureAssets({ workspaceId: workspace.id, id: newId(), createdAt: now() }))
  return (await db.query(findAssets({ workspaceId: workspace.id })))[0]?.id
}

/** Reasons why visitors cannot reach published content of a website or of the shared files; empty for none. */
export async function listContentWarnings(scope: Scope, siteId: string): Promise<string[]> {
  const [site] = await scope.db.query(findSite({ workspaceId: scope.workspace.id, id: siteId }))
  const isDraft = site?.published === false
  const draftWarning = isDraft ? [`The website ${site.key} is not published: publish it with {"published": true}`] : []
  return [...draftWarning, ...(await findVisitorWarnings(scope, ['content:deliver'], site?.key ?? assetsKey))]
}

function refuseAssets(key: string): void {
  if (key === assetsKey) throw problem('VALIDATION_ERROR', `key must not be ${assetsKey}, which is reserved for the files of all websites`)
}
