import type { Scope } from '#shared/core/scope/scope.ts'
import { detectContentType, headLength } from '#shared/features/drive/objects/content-type.ts'
import { isPassiveImage } from '#shared/features/sites/content.ts'
import { type ContentRow, findContent } from '#shared/features/sites/content-store.ts'
import { findAssetsId } from '#shared/features/sites/sites.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** The maximum size of a logo file in bytes. */
const maxLogoBytes = 1_048_576

/** A logo as it is served. */
interface Logo {
  readonly row: ContentRow & { readonly blob_id: string }
  /** Detected from the bytes, not taken from the sender. */
  readonly type: string
}

/** Throws VALIDATION_ERROR unless the path names an image among the workspace's assets. */
export async function requireLogo(scope: Scope, path: string): Promise<void> {
  if (await findLogo(scope, path)) return
  const rule = 'must be the path of a PNG, JPEG, GIF, WebP or AVIF file of at most 1 MB among the assets'
  throw problem('VALIDATION_ERROR', `logo ${rule}, got ${path.slice(0, 100)}`)
}

/** The workspace's logo. Throws NOT_FOUND without one, and when its file was deleted or is no longer an image. */
export async function readLogo(scope: Scope): Promise<Logo> {
  const { logo } = scope.workspace
  const found = logo === null ? undefined : await findLogo(scope, logo)
  if (!found) throw problem('NOT_FOUND')
  return found
}

async function findLogo(scope: Scope, path: string): Promise<Logo | undefined> {
  const assets = await findAssetsId(scope, { make: false })
  const [row] = assets === undefined ? [] : await scope.db.query(findContent({ workspaceId: scope.workspace.id, siteId: assets, path }))
  if (!row || row.blob_id === null || row.size_bytes === null || row.size_bytes === 0 || row.size_bytes > maxLogoBytes) return undefined
  const head = await scope.blobs.read(row.blob_id, { start: 0, end: Math.min(row.size_bytes, headLength) - 1 })
  const type = await detectContentType(Buffer.concat(await Array.fromAsync(head)), { name: '', type: '' })
  return isPassiveImage(type) ? { row: { ...row, blob_id: row.blob_id }, type } : undefined
}
