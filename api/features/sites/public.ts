import { contentHost } from '#api/features/sites/content-host.ts'
import * as examples from '#api/features/sites/examples.ts'
import { isNotModified } from '#api/http/reply/conditions.ts'
import { fileReply } from '#api/http/reply/file-reply.ts'
import { Reply } from '#api/http/reply/reply.ts'
import { answer } from '#api/http/route.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { deliverContent, isPassiveImage } from '#shared/features/sites/content.ts'
import type { ContentRow } from '#shared/features/sites/content-store.ts'
import { readLogo } from '#shared/features/sites/logo.ts'
import { deliveredDocument } from '#shared/features/sites/schemas.ts'

/** Browsers and proxies may cache content for 60 seconds. Unpublished content disappears after that. */
const cacheHeaders = { 'Cache-Control': 'public, max-age=60', 'X-Content-Type-Options': 'nosniff' }

/** Keeps a logo that is opened as a page, such as an SVG image, from running scripts. */
const inertHeaders = { 'Content-Security-Policy': "sandbox; default-src 'none'" }

/** Lets scripts of a website run in an opaque origin, isolated from the pages of this server and of other workspaces. */
const sandboxHeaders = { 'Content-Security-Policy': 'sandbox allow-scripts allow-forms allow-popups' }

/** The versions that a visitor already has, from If-None-Match. */
const versionsOf = (header: string): string[] => [...header.matchAll(/"([0-9a-f-]{36})"/g)].map(([, version = '']) => version)

function documentReply(header: (name: string) => string, row: ContentRow, headers: Readonly<Record<string, string>>): Reply {
  const [etag, changedAt] = [`"${row.version}"`, new Date(row.updated_at)]
  const known = { ...headers, ETag: etag, 'Last-Modified': changedAt.toUTCString() }
  if (isNotModified(header, { etag, changedAt })) return new Reply(null, known, 304)
  const { path, title, body, fields, updated_at } = row
  return new Reply(JSON.stringify({ data: { path, title, body, fields, updated_at } }), {
    ...known,
    'Content-Type': 'application/json; charset=utf-8',
  })
}

/** A stored file as `fileReply` takes it. */
export const storedFile = (row: ContentRow, { blobs }: Scope) => ({
  name: row.path.split('/').at(-1) ?? '',
  size: row.size_bytes ?? 0,
  type: row.content_type ?? '',
  sha256: row.sha256 ?? '',
  changedAt: new Date(row.updated_at),
  open: (range?: { readonly start: number; readonly end: number }) => blobs.read(row.blob_id ?? '', range),
})

/** Published content of websites (docs/contract/public.md#delivery). */
export const routes = [
  answer({
    method: 'GET',
    path: '/content/:orgId/:siteKey{/*path}',
    summary: 'Get published content of a website',
    description:
      'The visitor needs content:deliver on the key of the website, or on assets for shared files. A document, or the bytes of a file.',
    example: { params: { siteKey: 'shop', path: 'guides/brewing' }, answer: examples.deliveredDocument },
    tag: 'Public content',
    app: null,
    permission: 'public',
    limit: 'content',
    origins: 'any',
    fails: ['PRECONDITION_FAILED'],
    status: 200,
    response: deliveredDocument,
    contentType: '*/*',
    statuses: [206, 304, 416],
    handle: async (request, scope) => {
      const { header, line, params } = request
      const encoded = line().path.replace(/^\/content\/[^/]+\/[^/]+/, '')
      const versions = versionsOf(header('if-none-match'))
      const row = await deliverContent(scope, params.siteKey, encoded, versions)
      const isApart = contentHost(scope.config)?.hasHostPerWorkspace ?? false
      const headers = { ...cacheHeaders, ...(isApart || isPassiveImage(row.content_type ?? '') ? {} : sandboxHeaders) }
      return row.blob_id === null
        ? documentReply(header, row, headers)
        : fileReply(request, { ...storedFile(row, scope), isInline: true, headers })
    },
  }),
  answer({
    method: 'GET',
    path: '/logo/:orgId',
    summary: "Get a workspace's logo",
    description: 'An image; NOT_FOUND without one. Pages of the workspace show it, so it needs no permission.',
    example: { file: examples.logo },
    tag: 'Public content',
    app: null,
    permission: 'public',
    limit: 'content',
    origins: 'any',
    status: 200,
    response: null,
    contentType: 'image/*',
    statuses: [206, 304, 416],
    handle: async (request, scope) => {
      const { row, type } = await readLogo(scope)
      return fileReply(request, { ...storedFile(row, scope), isInline: true, headers: { ...cacheHeaders, ...inertHeaders }, type })
    },
  }),
]
