import * as examples from '#api/features/drive/examples.ts'
import { ids } from '#api/http/example-ids.ts'
import { Replaced } from '#api/http/reply/reply.ts'
import { answer, orgPath } from '#api/http/route.ts'
import { listFolder } from '#shared/features/drive/objects/list-folder.ts'
import { moveObjects, removeObjects } from '#shared/features/drive/objects/move-and-delete.ts'
import { readOverview } from '#shared/features/drive/objects/overview.ts'
import { createFolder } from '#shared/features/drive/objects/upload.ts'
import {
  deletedObjects,
  folder,
  folderInput,
  folderPage,
  folderQuery,
  keyQuery,
  movedObjects,
  objectMoveInput,
  overview,
  overviewQuery,
  space,
  spaceInput,
  spaceList,
  spaceShare,
  spaceShareInput,
} from '#shared/features/drive/schemas.ts'
import { addSpaceShare, listSpaceShares, removeSpaceShare } from '#shared/features/drive/shares/shares.ts'
import { createSpace, listSharedWithCaller, listSpaces, removeSpace } from '#shared/features/drive/spaces/spaces.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/**
 * Access to a space depends on its owner, its shares and the caller's roles together, so each operation checks it: 404 without any access,
 * 403 where the caller has access but not for this action (docs/contract/drive.md#access).
 */
const common = { tag: 'Drive', app: null, limit: null, permission: 'member' } as const
const drive = `${orgPath}/drive` as const
const bucket = `${drive}/buckets/:bucketId` as const

export const routes = [
  answer({
    ...common,
    method: 'GET',
    path: `${drive}/overview`,
    summary: 'Get recent files and bytes per content type',
    description: "Covers the caller's own drives and the team's spaces that the caller may read.",
    example: { query: { limit: 5 }, answer: examples.overview },
    query: overviewQuery,
    status: 200,
    response: overview,
    handle: ({ query }, scope) => readOverview(scope, query.limit),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${drive}/buckets`,
    summary: 'List spaces',
    description:
      "The caller's own drives, the team's spaces in which the caller has any access, and folders and files shared with the caller.",
    example: { answer: examples.spaces },
    status: 200,
    response: spaceList,
    handle: async (_request, scope) => ({ buckets: await listSpaces(scope), shared: await listSharedWithCaller(scope) }),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${drive}/buckets`,
    summary: 'Create a space',
    description: 'Creating a team space requires drive:manage on its key; a personal drive belongs to its creator.',
    example: { body: { key: 'contracts', name: 'Contracts', type: 'custom' }, answer: examples.newSpace },
    body: spaceInput,
    fails: ['UNAUTHORIZED', 'FORBIDDEN', 'KEY_TAKEN', 'LIMIT_EXCEEDED'],
    status: 201,
    response: space,
    handle: ({ body }, scope) => createSpace(scope, body),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: bucket,
    summary: 'Delete an empty space',
    description: 'The shared space and main drives cannot be deleted.',
    example: { params: { bucketId: ids.teamSpace } },
    fails: ['VALIDATION_ERROR', 'FORBIDDEN'],
    status: 204,
    response: null,
    handle: ({ params }, scope) => removeSpace(scope, params.bucketId),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${bucket}/objects`,
    summary: 'List a folder, or search in it',
    description:
      'The folders and files directly in the folder, in the order of their keys. With q, the files in and below the folder whose names contain q.',
    example: {
      params: { bucketId: ids.teamSpace },
      query: { prefix: '2026/', limit: 20 },
      answer: { folders: [], objects: [examples.contract] },
    },
    query: folderQuery,
    fails: ['FORBIDDEN'],
    status: 200,
    response: folderPage,
    handle: ({ params, query }, scope) => listFolder(scope, params.bucketId, query),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: `${bucket}/objects`,
    summary: 'Delete a file, or a folder with everything in it',
    description: 'Cannot be undone. Deleting a missing folder answers 0 files.',
    example: { params: { bucketId: ids.teamSpace }, query: { key: '2026/supply.txt' }, answer: { deleted: 1 } },
    query: keyQuery,
    fails: ['FORBIDDEN'],
    status: 200,
    response: deletedObjects,
    handle: async ({ params, query }, scope) => ({ deleted: await removeObjects(scope, params.bucketId, query.key) }),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${bucket}/folders`,
    summary: 'Create a folder',
    description: 'Creates an empty folder; an existing one stays.',
    example: { params: { bucketId: ids.teamSpace }, body: { key: '2027/' }, answer: { prefix: '2027/', name: '2027' } },
    body: folderInput,
    fails: ['FORBIDDEN'],
    status: 201,
    response: folder,
    handle: ({ params, body }, scope) => createFolder(scope, params.bucketId, body.key),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${bucket}/move`,
    summary: 'Rename or move a file or folder',
    description:
      'Moves shares too, without copying bytes. A folder is merged into an existing one. KEY_TAKEN when a file already has one of the new keys.',
    example: {
      params: { bucketId: ids.teamSpace },
      body: { from: '2026/supply.txt', to: 'archive/supply-2026.txt' },
      answer: { moved: 1 },
    },
    body: objectMoveInput,
    fails: ['FORBIDDEN', 'KEY_TAKEN'],
    status: 200,
    response: movedObjects,
    handle: async ({ params, body }, scope) => ({ moved: await moveObjects(scope, params.bucketId, body.from, body.to) }),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${bucket}/shares`,
    summary: 'List the shares of a space',
    description: 'Needs access to manage the space.',
    example: { params: { bucketId: ids.teamSpace }, answer: [examples.share] },
    fails: ['FORBIDDEN'],
    status: 200,
    response: schema(t.Array(spaceShare.json)),
    handle: ({ params }, scope) => listSpaceShares(scope, params.bucketId),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${bucket}/shares`,
    summary: 'Share a folder or file',
    description: 'With one member or with all. Sharing again with the same member replaces the mode.',
    example: { params: { bucketId: ids.teamSpace }, body: { prefix: '2026/', user_id: ids.member, mode: 'view' }, answer: examples.share },
    body: spaceShareInput,
    fails: ['FORBIDDEN'],
    status: 201,
    replaces: true,
    response: spaceShare,
    handle: async ({ params, body }, scope) => {
      const { share, isNew } = await addSpaceShare(scope, params.bucketId, body)
      return isNew ? share : new Replaced(share)
    },
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: `${bucket}/shares/:shareId`,
    summary: 'Delete a share',
    description: 'Takes effect with the next request.',
    example: { params: { bucketId: ids.teamSpace, shareId: ids.driveShare } },
    fails: ['FORBIDDEN'],
    status: 204,
    response: null,
    handle: ({ params }, scope) => removeSpaceShare(scope, params.bucketId, params.shareId),
  }),
]
