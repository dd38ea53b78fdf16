import { permits } from '#shared/core/scope/access.ts'
import { readRows, type Scope, within } from '#shared/core/scope/scope.ts'
import { addWarnings } from '#shared/core/scope/visitor-warnings.ts'
import { addUsage, requireQuota } from '#shared/features/drive/quota.ts'
import { maxPathBytes, normalizeContentPath } from '#shared/features/sites/content-path.ts'
import {
  type ContentRow,
  deleteContent,
  findContent,
  findContentEntries,
  findDeliveredContent,
  putContentFile,
  putDocument,
} from '#shared/features/sites/content-store.ts'
import type { Content, ContentQuery, DocumentInput } from '#shared/features/sites/schemas.ts'
import { listContentWarnings } from '#shared/features/sites/sites.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/** Bytes in storage that have no path yet. */
export interface StoredContentFile {
  readonly blobId: string
  readonly sizeBytes: number
  readonly sha256: string
  readonly contentType: string
}

/** Written content, and whether it replaced other content. */
export interface WrittenContent {
  readonly content: Content
  readonly replaced: boolean
}

/** The path in the percent-encoded rest of an address. Throws VALIDATION_ERROR for an invalid path. */
export function requireContentPath(encoded: string): string {
  const path = normalizeContentPath(encoded)
  if (path !== undefined) return path
  const rule = `up to ${maxPathBytes} bytes of UTF-8 in segments that are neither empty, . nor .., without backslashes and control characters`
  throw problem('VALIDATION_ERROR', `path must have ${rule}`)
}

/** Streams a file into storage. Throws LIMIT_EXCEEDED where the plan's cap is reached already. */
export async function storeContentFile(scope: Scope, bytes: AsyncIterable<Uint8Array>, contentType: string): Promise<StoredContentFile> {
  await requireQuota(scope)
  const { id, sizeBytes, sha256 } = await scope.blobs.put(scope.workspace.id, bytes)
  return { blobId: id, sizeBytes, sha256, contentType: typeOf(contentType) }
}

/** The content type that the sender named; application/octet-stream for none or an invalid one. */
function typeOf(sent: string): string {
  const isType = /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}(?:\s*;\s*[\w-]+=(?:[\w.+-]+|"[^"\\]*"))*$/.test(sent.trim())
  return isType && sent.length <= 300 ? sent.trim() : 'application/octet-stream'
}

/** Writes a document at a path of a website. Throws NOT_FOUND when the website was deleted. */
export const writeDocument = (scope: Scope, siteId: string, path: string, input: DocumentInput): Promise<WrittenContent> => {
  const { title = '', body = '', fields = {}, published = false } = input
  const { workspace, now } = scope
  return writeRow(scope, siteId, 0, () =>
    putDocument({
      workspaceId: workspace.id,
      siteId,
      path,
      version: newId(),
      published,
      title,
      body,
      fields: JSON.stringify(fields),
      updatedAt: now(),
    }),
  )
}

/** Writes stored bytes as a file at a path. Throws NOT_FOUND, and LIMIT_EXCEEDED at the cap of the plan; bytes are then discarded. */
export async function writeContentFile(scope: Scope, siteId: string, path: string, kept: StoredContentFile): Promise<WrittenContent> {
  const { workspace, now, blobs } = scope
  const { blobId, sizeBytes } = kept
  try {
    return await writeRow(scope, siteId, sizeBytes, () =>
      putContentFile({ ...kept, workspaceId: workspace.id, siteId, path, version: newId(), updatedAt: now() }),
    )
  } catch (error) {
    await blobs.discardAfter(error, workspace.id, blobId)
    throw error
  }
}

async function writeRow(
  scope: Scope,
  siteId: string,
  bytes: number,
  statement: () => ReturnType<typeof putContentFile>,
): Promise<WrittenContent> {
  return scope.db.transaction(async (tx) => {
    const [row] = await tx.query(statement())
    if (!row) throw problem('INTERNAL')
    const inside = within(scope, tx)
    await addUsage(inside, bytes - row.replaced_bytes)
    return {
      content: addWarnings(contentViewOf(row), row.published ? await listContentWarnings(inside, siteId) : []),
      replaced: row.was_there,
    }
  })
}

/** The content at a path, including drafts. Throws NOT_FOUND. */
export async function getContent(scope: Scope, siteId: string | undefined, path: string): Promise<ContentRow> {
  const row = siteId === undefined ? undefined : await findContentRow(scope, siteId, path)
  if (!row) throw problem('NOT_FOUND')
  return row
}

/** The content at a path, including drafts; undefined for none. */
export async function findContentRow({ db, workspace }: Scope, siteId: string, path: string): Promise<ContentRow | undefined> {
  const [row] = await db.query(findContent({ workspaceId: workspace.id, siteId, path }))
  return row
}

/** Lists the content of a website by path; empty without a website id. */
export async function listContent({ db, workspace }: Scope, siteId: string | undefined, query: ContentQuery) {
  const { prefix = '', after = '', limit } = query
  if (siteId === undefined) return []
  const page = { prefix, end: endOfPrefix(prefix), afterPath: after, limit }
  return db.query(findContentEntries({ ...page, workspaceId: workspace.id, siteId }))
}

/** The first text that sorts after everything with the prefix; null for none. */
function endOfPrefix(prefix: string): string | null {
  const last = prefix.codePointAt(prefix.length - (/[\udc00-\udfff]$/.test(prefix) ? 2 : 1))
  if (last === undefined || last === 0x10ffff) return null
  const kept = prefix.slice(0, prefix.length - String.fromCodePoint(last).length)
  // Surrogates are not characters: U+D7FF is followed by U+E000.
  return kept + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1)
}

/** Deletes the content at a path. Throws NOT_FOUND. */
export async function removeContent(scope: Scope, siteId: string | undefined, path: string): Promise<void> {
  if (siteId === undefined) throw problem('NOT_FOUND')
  await scope.db.transaction(async (tx) => {
    const [gone] = await tx.query(deleteContent({ workspaceId: scope.workspace.id, siteId, path }))
    if (!gone) throw problem('NOT_FOUND')
    await addUsage(within(scope, tx), -gone.bytes)
  })
}

/** Content as its authors see it. */
export function contentViewOf({ path, published, title, body, fields, size_bytes, content_type, sha256, updated_at }: ContentRow): Content {
  if (content_type !== null) return { path, content_type, size: size_bytes ?? 0, sha256: sha256 ?? '', updated_at }
  return { path, title: title ?? '', body: body ?? '', fields: fields ?? {}, updated_at, published }
}

/**
 * The published content at the percent-encoded rest of an address, without the body if the visitor has one of `versions`. Throws NOT_FOUND
 * alike for content that does not exist, is not published, or is not open to the visitor.
 */
export async function deliverContent(scope: Scope, siteKey: string, encoded: string, versions: readonly string[]): Promise<ContentRow> {
  const { workspace } = scope
  const path = normalizeContentPath(encoded)
  if (path === undefined || !permits(scope, 'content:deliver', siteKey)) throw problem('NOT_FOUND')
  const [row] = await readRows(scope, findDeliveredContent({ workspaceId: workspace.id, siteKey, path, knownVersions: versions }))
  if (!row) throw problem('NOT_FOUND')
  return row
}

/** Whether browsers show the type as an image without running anything. SVG is a document (docs/contract/public.md#sandbox-of-content). */
export const isPassiveImage = (contentType: string): boolean => passiveImages.has(contentType.split(';')[0]?.trim().toLowerCase() ?? '')

/** A list, because a browser may read any other type as a document: `image/x+xml` is XML (WHATWG MIME Sniffing, XML MIME type). */
const passiveImages: ReadonlySet<string> = new Set(['image/png', 'image/apng', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'])
