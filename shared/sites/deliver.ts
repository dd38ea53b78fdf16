import { problem } from '#shared/kernel/errors.ts'
import { permits } from '#shared/scope/access.ts'
import { readRows, type Scope } from '#shared/scope/scope.ts'
import { type ContentRow, findDelivered } from '#shared/sites/content-store.ts'
import { normalPath } from '#shared/sites/path.ts'

/**
 * What a visitor may have of a website, at the percent-encoded rest of an address; without the body where it has one of these versions.
 * NOT_FOUND for all that is not there, not published, or not open to visitors, one like the other.
 */
export async function deliver(scope: Scope, siteKey: string, encoded: string, versions: readonly string[]): Promise<ContentRow> {
  const { workspace } = scope
  const path = normalPath(encoded)
  if (path === undefined || !permits(scope, 'content:deliver', siteKey)) throw problem('NOT_FOUND')
  const [row] = await readRows<ContentRow>(scope, findDelivered(workspace.id, siteKey, path, versions))
  if (!row) throw problem('NOT_FOUND')
  return row
}

/** Whether a browser shows it as a picture and runs nothing of it: SVG is a document (decisions, Forms, website content, messages). */
export const isImage = (contentType: string): boolean => /^image\/(?!svg\b)/i.test(contentType)
