import { permits } from '#shared/core/scope/access.ts'
import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import { normalizeContentPath } from '#shared/features/sites/content-path.ts'
import { type ContentRow, findDeliveredContent } from '#shared/features/sites/content-store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * The published content at the percent-encoded rest of an address, without the body if the visitor has one of `versions`. Throws NOT_FOUND
 * alike for content that does not exist, is not published, or is not open to the visitor.
 */
export async function deliverContent(scope: Scope, siteKey: string, encoded: string, versions: readonly string[]): Promise<ContentRow> {
  const { workspace } = scope
  const path = normalizeContentPath(encoded)
  if (path === undefined || !permits(scope, 'content:deliver', siteKey)) throw problem('NOT_FOUND')
  const [row] = await readRows<ContentRow>(scope, findDeliveredContent(workspace.id, siteKey, path, versions))
  if (!row) throw problem('NOT_FOUND')
  return row
}

/** Whether browsers show the type as an image without running anything. SVG is a document (decisions, Forms, website content, messages). */
export const isPassiveImage = (contentType: string): boolean => /^image\/(?!svg\b)/i.test(contentType)
