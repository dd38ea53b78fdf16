import { problem } from '#shared/platform/kernel/errors.ts'
import { type ApiTarget, findTarget, type TargetOptions } from '../client/target.ts'
import type { Shell } from '../shell.ts'

/** A space as the API lists it. */
export interface Space {
  readonly id: string
  readonly key: string
  readonly name: string
  readonly type: string
  readonly object_count: number
  readonly total_bytes: number
}

/** A workspace's drive: the API target and the spaces. */
export interface Drive extends ApiTarget {
  readonly spaces: readonly Space[]
}

/** A file or folder of a space, written `<space>:<key>`. */
export interface DriveLocation {
  /** Path of the space below the API's base address. */
  readonly path: string
  readonly spaceKey: string
  readonly key: string
}

/** Resolves the workspace and lists its spaces. Throws as `findTarget` does. */
export async function openDrive(options: TargetOptions, { environment }: Shell): Promise<Drive> {
  const target = await findTarget(options, environment)
  const { buckets } = await target.api.get<{ buckets: readonly Space[] }>(`/orgs/${target.orgId}/drive/buckets`)
  return { ...target, spaces: buckets }
}

/**
 * Parses a location. Names the space by key or id; a space that another person shares only by id. Throws VALIDATION_ERROR for a wrong form,
 * and NOT_FOUND for an unknown name.
 */
export function readLocation({ spaces, orgId }: Drive, text: string): DriveLocation {
  const at = text.indexOf(':')
  if (at < 1) throw problem('VALIDATION_ERROR', `A place is written <space>:<key>, such as org:folder/file.txt, got ${text}`)
  const name = text.slice(0, at)
  const space = spaces.find(({ id, key }) => id === name || key === name)
  const id = space?.id ?? (/^[0-9a-f-]{36}$/.test(name) ? name : undefined)
  if (id === undefined) throw problem('NOT_FOUND', `There is no space ${name}: ${spaces.map(({ key }) => key).join(', ')}`)
  return { path: `/orgs/${orgId}/drive/buckets/${id}`, spaceKey: space?.key ?? name, key: text.slice(at + 1) }
}

/** Encodes values as a query string. */
export const queryString = (values: Readonly<Record<string, string>>): string => new URLSearchParams(values).toString()
