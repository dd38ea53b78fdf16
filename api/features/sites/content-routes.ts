import * as examples from '#api/features/sites/examples.ts'
import { storedFile } from '#api/features/sites/public.ts'
import { onSite } from '#api/features/sites/routes.ts'
import { ids } from '#api/http/example-ids.ts'
import { fileReply } from '#api/http/reply/file-reply.ts'
import { Replaced } from '#api/http/reply/reply.ts'
import { maxBodyBytes } from '#api/http/request/body.ts'
import { readWholeFile } from '#api/http/request/upload.ts'
import { type ArrivingFile, answer, orgPath, receive } from '#api/http/route.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import {
  contentViewOf,
  findContentRow,
  getContent,
  listContent,
  removeContent,
  requireContentPath,
  type StoredContentFile,
  storeContentFile,
  type WrittenContent,
  writeContentFile,
  writeDocument,
} from '#shared/features/sites/content.ts'
import type { ContentRow } from '#shared/features/sites/content-store.ts'
import { assetsKey, content, contentList, contentQuery, type DocumentInput, documentInput } from '#shared/features/sites/schemas.ts'
import { findAssetsId } from '#shared/features/sites/sites.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { readKnownKeys } from '#shared/platform/kernel/known-keys.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { parseJson } from '#shared/platform/kernel/values/json.ts'

const common = { tag: 'Websites', app: null, permission: 'content:manage', limit: null } as const
const inSite = `${orgPath}/sites/:siteId/content` as const
const inAssets = `${orgPath}/assets` as const

const onAssets = () => ({ key: assetsKey, resource: undefined })

const putQuery = schema(t.Object({ raw: t.Optional(t.String({ description: '1 stores JSON as a file instead of a document.' })) }))

interface Line {
  readonly line: () => { readonly path: string }
}

/** The path after `content` or `assets`, from the raw request line, so that it is decoded only once. */
const pathOf = ({ line }: Line): string =>
  requireContentPath(line().path.replace(/^\/v1\/orgs\/[^/]+\/(?:sites\/[^/]+\/content|assets)/, ''))

type Kept = { readonly document: DocumentInput } | { readonly file: StoredContentFile }

const isJson = (contentType: string): boolean => /^application\/json\s*(?:;|$)/i.test(contentType.trim())

async function keepDocument({ bytes, ...file }: ArrivingFile, stored: () => Promise<unknown>): Promise<Kept> {
  const whole = await readWholeFile({ ...file, bytes: upTo(bytes, maxBodyBytes) })
  const text = new TextDecoder('utf-8', { fatal: true })
  try {
    return { document: await readDocument(whole.length === 0 ? {} : parseJson(text.decode(whole)), stored) }
  } catch (cause) {
    throw cause instanceof TypeError ? problem('VALIDATION_ERROR', 'body must be UTF-8', { cause }) : cause
  }
}

/** Reads the document of a request. `stored` is called only when the request holds read-only keys, which must equal the stored ones. */
async function readDocument(value: unknown, stored: () => Promise<unknown>): Promise<DocumentInput> {
  const rules = { body: documentInput.json, answer: content.json }
  const known = readKnownKeys(value, { ...rules, stored: undefined })
  const document = documentInput.parse(known.value)
  if (known.isComparable) readKnownKeys(value, { ...rules, stored: await stored() })
  return document
}

/** The stored document at a path as its authors see it; undefined for none or a file. */
async function storedDocument(scope: Scope, siteId: string, path: string): Promise<unknown> {
  const row = await findContentRow(scope, siteId, path)
  return row === undefined || row.blob_id !== null ? undefined : contentViewOf(row)
}

async function* upTo(bytes: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const piece of bytes) {
    size += piece.length
    if (size > most) throw problem('VALIDATION_ERROR', `a document must have at most ${most} bytes; ?raw=1 stores it as a file`)
    yield piece
  }
}

const keepAsFile = async ({ bytes, contentType }: ArrivingFile, scope: Scope): Promise<Kept> => ({
  file: await storeContentFile(scope, bytes, contentType),
})

const write = (scope: Scope, siteId: string, path: string, kept: Kept): Promise<WrittenContent> =>
  'document' in kept ? writeDocument(scope, siteId, path, kept.document) : writeContentFile(scope, siteId, path, kept.file)

const writtenOf = ({ content, replaced }: WrittenContent) => (replaced ? new Replaced(content) : content)

const upload = { maxBytes: 'files', contentTypes: 'any', form: false } as const
const put = {
  ...common,
  method: 'PUT',
  upload,
  digestOf: null,
  fails: ['LIMIT_EXCEEDED', 'NOT_FOUND'],
  status: 201,
  replaces: true,
  response: content,
} as const

/** Authors download files; browsers never show them, since they would run on the origin of the API. */
const fileOf = (request: Parameters<typeof fileReply>[0], row: ContentRow, scope: Scope) =>
  fileReply(request, { ...storedFile(row, scope), isInline: false, headers: { 'Content-Security-Policy': "sandbox; default-src 'none'" } })

const get = {
  ...common,
  method: 'GET',
  fails: ['NOT_FOUND', 'PRECONDITION_FAILED'],
  status: 200,
  contentType: '*/*',
  statuses: [206, 304, 416],
  response: content,
} as const
const list = { ...common, method: 'GET', query: contentQuery, status: 200, response: contentList } as const
const remove = { ...common, method: 'DELETE', status: 204, response: null } as const

export const routes = [
  answer({
    ...list,
    path: inSite,
    summary: 'List the content of a website by path',
    description: 'Documents and files, without their bodies.',
    example: { params: { siteId: ids.site }, query: { prefix: 'guides/', limit: 20 }, answer: [examples.documentEntry] },
    on: onSite,
    handle: ({ resource, query }, scope) => listContent(scope, resource.id, query),
  }),
  answer({
    ...get,
    path: `${inSite}/*path`,
    summary: 'Get content of a website',
    description: 'A document, including a draft, or the bytes of a file.',
    example: { params: { siteId: ids.site, path: 'guides/brewing' }, answer: examples.contentDocument },
    on: onSite,
    handle: async (request, scope) => {
      const row = await getContent(scope, request.resource.id, pathOf(request))
      return row.blob_id === null ? contentViewOf(row) : fileOf(request, row, scope)
    },
  }),
  receive({
    ...put,
    path: `${inSite}/*path`,
    summary: 'Put a document or a file at a path of a website',
    description:
      'A body of application/json is a document, {title, body, fields, published}, unless raw=1. Any other body is a file, which has no draft.',
    example: { params: { siteId: ids.site, path: 'guides/brewing' }, body: examples.documentInput, answer: examples.contentDocument },
    on: onSite,
    query: putQuery,
    keep: (file, request, scope) => {
      pathOf(request)
      return request.query.raw !== '1' && isJson(file.contentType)
        ? keepDocument(file, () => storedDocument(scope, request.resource.id, pathOf(request)))
        : keepAsFile(file, scope)
    },
    handle: async (request, scope) => writtenOf(await write(scope, request.resource.id, pathOf(request), request.kept)),
  }),
  answer({
    ...remove,
    path: `${inSite}/*path`,
    summary: 'Delete content of a website',
    description: 'Visitors get NOT_FOUND once their caches, of 60 seconds, have expired.',
    example: { params: { siteId: ids.site, path: 'guides/brewing' } },
    on: onSite,
    handle: (request, scope) => removeContent(scope, request.resource.id, pathOf(request)),
  }),
  answer({
    ...list,
    path: inAssets,
    summary: 'List the files that all websites share, by path',
    description: 'They are public under `/content/{orgId}/assets`.',
    example: { query: { prefix: 'notes/', limit: 20 }, answer: [examples.assetEntry] },
    on: onAssets,
    handle: async ({ query }, scope) => listContent(scope, await findAssetsId(scope, { make: false }), query),
  }),
  answer({
    ...get,
    path: `${inAssets}/*path`,
    summary: 'Get a file that all websites share',
    description: 'The bytes of the file, with an ETag.',
    example: { params: { path: 'notes/hours.txt' }, file: examples.openingHours },
    on: onAssets,
    handle: async (request, scope) =>
      fileOf(request, await getContent(scope, await findAssetsId(scope, { make: false }), pathOf(request)), scope),
  }),
  receive({
    ...put,
    path: `${inAssets}/*path`,
    summary: 'Put a file that all websites share',
    description: 'The body is the file, stored with its content type. It is public at once.',
    example: { params: { path: 'notes/hours.txt' }, body: examples.openingHours, answer: examples.asset },
    on: onAssets,
    keep: (file, request, scope) => {
      pathOf(request)
      return keepAsFile(file, scope)
    },
    handle: async (request, scope) => {
      const siteId = await findAssetsId(scope, { make: true })
      if (siteId === undefined) throw problem('INTERNAL')
      return writtenOf(await write(scope, siteId, pathOf(request), request.kept))
    },
  }),
  answer({
    ...remove,
    path: `${inAssets}/*path`,
    summary: 'Delete a file that all websites share',
    description: 'Visitors get NOT_FOUND once their caches, of 60 seconds, have expired.',
    example: { params: { path: 'notes/hours.txt' } },
    on: onAssets,
    handle: async (request, scope) => removeContent(scope, await findAssetsId(scope, { make: false }), pathOf(request)),
  }),
]
