import { randomUUID } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'
import { readableTypes } from '#shared/core/records/declarations/schemas.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { ApiTarget } from '../client/target.ts'
import type { Description } from './description.ts'

/** Writes the client of a workspace, whole or not at all, and returns the keys of its record types. */
export async function writeClient({ api, orgId }: ApiTarget, file: string): Promise<readonly string[]> {
  const types = readableTypes.parse(await api.getAll(`/orgs/${orgId}/records`))
  // TypeScript as a library takes half a second to load.
  const { clientText } = await import('./client-text.ts')
  await replaceFile(file, await clientText(await api.describe<Description>(), types))
  return types.map(({ key }) => key)
}

/** The new text goes to a file beside the old one, which it then replaces. */
async function replaceFile(file: string, text: string): Promise<void> {
  const unfinished = `${file}.${randomUUID().slice(0, 8)}.half`
  try {
    await writeFile(unfinished, text, { flag: 'wx' })
    await rename(unfinished, file)
  } catch (cause) {
    throw problem('VALIDATION_ERROR', `--out ${file} cannot be written: ${(cause as Error).message}`, { cause })
  } finally {
    await rm(unfinished, { force: true })
  }
}
