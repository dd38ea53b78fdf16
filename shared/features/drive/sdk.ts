import { defineSdkMethod, type SdkMethod } from '#shared/core/automation/sdk-method.ts'
import { withoutPersonalStanding } from '#shared/core/scope/actor.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { sharedSpaceKey } from '#shared/features/drive/access.ts'
import { listFolder } from '#shared/features/drive/objects/list-folder.ts'
import { readText } from '#shared/features/drive/objects/read-file.ts'
import { writeDriveFile } from '#shared/features/drive/objects/upload.ts'
import { folderQuery } from '#shared/features/drive/schemas.ts'
import { ensureDefaultSpaces } from '#shared/features/drive/spaces/spaces.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** The largest file that a run reads or writes as text: as much as a request's body may have. */
const maxTextBytes = 1024 * 1024

const space = ['space', schema(t.String())] as const
const key = ['key', schema(t.String())] as const
const text = ['text', schema(t.String())] as const
const contentType = ['contentType', schema(t.Unknown())] as const
const prefix = ['prefix', schema(t.Unknown())] as const
const said = schema(t.String())

/** The space that a call names by key or id. The shared one is made when it is first needed. */
async function named(scope: Scope, name: string): Promise<string> {
  if (name === sharedSpaceKey) await ensureDefaultSpaces({ ...scope, actor: withoutPersonalStanding(scope.actor) })
  return name
}

/** Files of text in the workspace's spaces, under the rights of the run's caller. */
export const driveMethods: readonly SdkMethod[] = [
  defineSdkMethod('drive.read', '(space: string, key: string): Promise<string>', [space, key], async ({ scope }, name, key) =>
    readText(scope, await named(scope, name), key, maxTextBytes),
  ),
  defineSdkMethod(
    'drive.write',
    '(space: string, key: string, text: string, contentType?: string): Promise<DriveObject>',
    [space, key, text, contentType],
    async ({ scope }, name, key, text, contentType) =>
      (
        await writeDriveFile(
          scope,
          await named(scope, name),
          key,
          Buffer.from(text),
          said.parse(contentType ?? 'text/plain', 'contentType'),
        )
      ).object,
  ),
  defineSdkMethod(
    'drive.list',
    '(space: string, prefix?: string): Promise<{ folders: { prefix: string; name: string }[]; objects: DriveObject[]; cursor?: string }>',
    [space, prefix],
    async ({ scope }, name, prefix) => listFolder(scope, await named(scope, name), folderQuery.parse({ prefix: prefix ?? '', limit: 200 })),
  ),
]
