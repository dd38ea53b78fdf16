import { defineSdkMethod, type SdkMethod } from '#shared/core/automation/sdk-method.ts'
import { listFolder } from '#shared/features/drive/objects/list-folder.ts'
import { readText } from '#shared/features/drive/objects/read-file.ts'
import { writeDriveFile } from '#shared/features/drive/objects/upload.ts'
import { folderQuery } from '#shared/features/drive/schemas.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** Maximum bytes of a file that a run may read as text, the same as those of a request's body. */
const maxTextBytes = 1024 * 1024

const space = ['space', schema(t.String())] as const
const key = ['key', schema(t.String())] as const
const text = ['text', schema(t.String())] as const
const contentType = ['contentType', schema(t.Unknown())] as const
const prefix = ['prefix', schema(t.Unknown())] as const
const textSchema = schema(t.String())

/** SDK methods for text files in spaces; they use the permissions of the run's caller. */
export const driveMethods: readonly SdkMethod[] = [
  defineSdkMethod('drive.read', '(space: string, key: string): Promise<string>', [space, key], async ({ scope }, name, key) =>
    readText(scope, name, key, maxTextBytes),
  ),
  defineSdkMethod(
    'drive.write',
    '(space: string, key: string, text: string, contentType?: string): Promise<DriveObject>',
    [space, key, text, contentType],
    async ({ scope }, name, key, text, contentType) =>
      (await writeDriveFile(scope, name, key, Buffer.from(text), textSchema.parse(contentType ?? 'text/plain', 'contentType'))).object,
  ),
  defineSdkMethod(
    'drive.list',
    '(space: string, prefix?: string): Promise<{ folders: { prefix: string; name: string }[]; objects: DriveObject[]; cursor?: string }>',
    [space, prefix],
    async ({ scope }, name, prefix) => listFolder(scope, name, folderQuery.parse({ prefix: prefix ?? '', limit: 200 })),
  ),
]
