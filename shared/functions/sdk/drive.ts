import { orgKey } from '#shared/drive/access.ts'
import { listLevel } from '#shared/drive/list.ts'
import { readText } from '#shared/drive/read.ts'
import { levelQuery } from '#shared/drive/schemas.ts'
import { makeFirstSpaces } from '#shared/drive/spaces.ts'
import { writeFile } from '#shared/drive/upload.ts'
import { type SdkMethod, sdkMethod } from '#shared/functions/sdk/method.ts'
import { schema, t } from '#shared/kernel/schema.ts'
import { impersonal } from '#shared/scope/actor.ts'
import type { Scope } from '#shared/scope/scope.ts'

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
  if (name === orgKey) await makeFirstSpaces({ ...scope, actor: impersonal(scope.actor) })
  return name
}

/** Files of text in the workspace's spaces, under the rights of the run's caller. */
export const driveMethods: readonly SdkMethod[] = [
  sdkMethod('drive.read', '(space: string, key: string): Promise<string>', [space, key], async ({ scope }, name, key) =>
    readText(scope, await named(scope, name), key, maxTextBytes),
  ),
  sdkMethod(
    'drive.write',
    '(space: string, key: string, text: string, contentType?: string): Promise<DriveObject>',
    [space, key, text, contentType],
    async ({ scope }, name, key, text, contentType) =>
      (await writeFile(scope, await named(scope, name), key, Buffer.from(text), said.parse(contentType ?? 'text/plain', 'contentType')))
        .object,
  ),
  sdkMethod(
    'drive.list',
    '(space: string, prefix?: string): Promise<{ folders: { prefix: string; name: string }[]; objects: DriveObject[]; cursor?: string }>',
    [space, prefix],
    async ({ scope }, name, prefix) => listLevel(scope, await named(scope, name), levelQuery.parse({ prefix: prefix ?? '', limit: 200 })),
  ),
]
