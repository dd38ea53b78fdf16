import { fileReply } from '#api/http/file-reply.ts'
import { Replaced } from '#api/http/reply.ts'
import { answer, org, receive } from '#api/http/route.ts'
import { isInline, isPlayed } from '#shared/drive/content-type.ts'
import { findFile } from '#shared/drive/read.ts'
import { driveObject, keyQuery } from '#shared/drive/schemas.ts'
import { type KeptBytes, keepBytes, putFile } from '#shared/drive/upload.ts'

const common = { tag: 'Drive', app: null, limit: null, permission: 'member' } as const
const bucket = `${org}/drive/buckets/:bucketId` as const

/** Whatever is in a file, nothing of it may act as a page of this origin. Browsers play no audio or video under it. */
const contained = { 'Content-Security-Policy': "sandbox; default-src 'none'" }

/** Last-Modified alone would let a browser show an old version, or one that is shared no more, without asking. */
const asked = { 'Cache-Control': 'private, no-cache' }

export const routes = [
  receive({
    ...common,
    method: 'POST',
    path: `${bucket}/objects`,
    summary: 'Upload a file',
    description: 'multipart/form-data with the file in the part `file`, and its key in the field `key`; by default that is its own name.',
    upload: { maxBytes: 'files', contentTypes: [], fields: { key: "Where it goes; the file's own name by default." } },
    fails: ['FORBIDDEN', 'LIMIT_EXCEEDED'],
    status: 201,
    replaces: true,
    response: driveObject,
    keep: async (file, { params }, scope): Promise<KeptBytes & { name: string }> => ({
      ...(await keepBytes(scope, params.bucketId, file)),
      name: file.name,
    }),
    digestOf: ({ sha256 }) => sha256,
    handle: async ({ params, kept, fields }, scope) => {
      const { object, isNew } = await putFile(scope, params.bucketId, fields.get('key') || kept.name, kept)
      return isNew ? object : new Replaced(object)
    },
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${bucket}/download`,
    summary: 'Download a file',
    description: 'Images, PDF, plain text and common audio and video are shown by browsers, all else is saved. HEAD answers as GET does.',
    query: keyQuery,
    fails: ['FORBIDDEN', 'PRECONDITION_FAILED'],
    status: 200,
    statuses: [206, 304, 416],
    response: null,
    contentType: '*/*',
    handle: async (request, scope) => {
      const { name, size_bytes, content_type, sha256, updated_at, open } = await findFile(scope, request.params.bucketId, request.query.key)
      return fileReply(request, {
        ...{ name, sha256, open, size: size_bytes, isInline: isInline(content_type) },
        type: content_type === 'text/plain' ? 'text/plain; charset=utf-8' : content_type,
        changedAt: new Date(updated_at),
        headers: { ...asked, ...(isPlayed(content_type) ? {} : contained) },
      })
    },
  }),
]
