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

/** A drive that can be called, and its spaces. */
export interface Drive extends ApiTarget {
  readonly spaces: readonly Space[]
}

/** A file or folder of a space, as `<space>:<key>` names it. */
export interface DriveLocation {
  /** The address of its space below the base address. */
  readonly path: string
  readonly spaceKey: string
  readonly key: string
}

/** Finds the workspace and asks for its spaces. Throws as `findTarget` does. */
export async function openDrive(options: TargetOptions, { environment }: Shell): Promise<Drive> {
  const target = await findTarget(options, environment)
  const { buckets } = await target.api.get<{ buckets: readonly Space[] }>(`/orgs/${target.orgId}/drive/buckets`)
  return { ...target, spaces: buckets }
}

/** Reads a place; a space goes by its key or, where it was shared, its id. Throws VALIDATION_ERROR that says how a place is written. */
export function readLocation({ spaces, orgId }: Drive, text: string): DriveLocation {
  const at = text.indexOf(':')
  if (at < 1) throw problem('VALIDATION_ERROR', `A place is written <space>:<key>, such as org:folder/file.txt, got ${text}`)
  const name = text.slice(0, at)
  const space = spaces.find(({ id, key }) => id === name || key === name)
  const id = space?.id ?? (/^[0-9a-f-]{36}$/.test(name) ? name : undefined)
  if (id === undefined) throw problem('NOT_FOUND', `There is no space ${name}: ${spaces.map(({ key }) => key).join(', ')}`)
  return { path: `/orgs/${orgId}/drive/buckets/${id}`, spaceKey: space?.key ?? name, key: text.slice(at + 1) }
}

/** A query of these values. */
export const queryString = (values: Readonly<Record<string, string>>): string => new URLSearchParams(values).toString()
