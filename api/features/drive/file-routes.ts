import * as examples from '#api/features/drive/examples.ts'
import { ids } from '#api/http/example-ids.ts'
import { fileReply } from '#api/http/reply/file-reply.ts'
import { Replaced } from '#api/http/reply/reply.ts'
import { answer, orgPath, receive } from '#api/http/route.ts'
import { isInline, isPlayable } from '#shared/features/drive/objects/content-type.ts'
import { findFile } from '#shared/features/drive/objects/read-file.ts'
import { type StoredBytes, saveUpload, storeBytes } from '#shared/features/drive/objects/upload.ts'
import { driveObject, keyQuery } from '#shared/features/drive/schemas.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

const common = { tag: 'Drive', app: null, limit: null, permission: 'member' } as const
const bucket = `${orgPath}/drive/buckets/:bucketId` as const

/** Keeps a file from acting as a page of this origin. Audio and video are sent without it, since browsers would not play them. */
const sandboxHeaders = { 'Content-Security-Policy': "sandbox; default-src 'none'" }

/** Makes browsers ask before they reuse a copy. Otherwise they could show an old version, or a file that is no longer shared. */
const revalidationHeaders = { 'Cache-Control': 'private, no-cache' }

/**
 * The name of an uploaded file as its key. The form's parser replaces bytes that are no UTF-8 by U+FFFD, so different names could become
 * the same key.
 */
function keyOfName(name: string): string {
  if (name.includes('\ufffd')) throw problem('VALIDATION_ERROR', 'the name of the file must be UTF-8, or key must be sent')
  return name
}

export const routes = [
  receive({
    ...common,
    method: 'POST',
    path: `${bucket}/objects`,
    summary: 'Upload a file',
    description: 'multipart/form-data with the file in the part `file` and its key in the field `key`, by default its own name.',
    example: {
      params: { bucketId: ids.teamSpace },
      body: { key: '2026/supply.txt', file: examples.contractText },
      answer: examples.contract,
    },
    upload: { maxBytes: 'files', contentTypes: [], fields: { key: "The key of the file in the space; default: the file's own name." } },
    fails: ['FORBIDDEN', 'LIMIT_EXCEEDED'],
    status: 201,
    replaces: true,
    response: driveObject,
    keep: async (file, { params }, scope): Promise<StoredBytes & { name: string }> => ({
      ...(await storeBytes(scope, params.bucketId, file)),
      name: file.name,
    }),
    digestOf: ({ sha256 }) => sha256,
    handle: async ({ params, kept, fields }, scope) => {
      const { object, isNew } = await saveUpload(scope, params.bucketId, fields.get('key') || keyOfName(kept.name), kept)
      return isNew ? object : new Replaced(object)
    },
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${bucket}/download`,
    summary: 'Download a file',
    description: 'Browsers show images, PDF, plain text and common audio and video; they save anything else. HEAD answers like GET.',
    example: { params: { bucketId: ids.teamSpace }, query: { key: '2026/supply.txt' }, file: examples.contractText },
    query: keyQuery,
    fails: ['FORBIDDEN', 'PRECONDITION_FAILED'],
    status: 200,
    statuses: [206, 304, 416],
    response: null,
    contentType: '*/*',
    handle: async (request, scope) => {
      const { name, size_bytes, content_type, sha256, updated_at, open } = await findFile(scope, request.params.bucketId, request.query.key)
      return fileReply(request, {
        name,
        sha256,
        open,
        size: size_bytes,
        isInline: isInline(content_type),
        type: content_type === 'text/plain' ? 'text/plain; charset=utf-8' : content_type,
        changedAt: new Date(updated_at),
        headers: { ...revalidationHeaders, ...(isPlayable(content_type) ? {} : sandboxHeaders) },
      })
    },
  }),
]
