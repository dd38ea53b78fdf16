import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { World } from '#test/support/world.ts'

/** The names of all files in a world's store on disk, including incomplete ones. */
export async function storedFiles({ config }: Pick<World, 'config'>): Promise<string[]> {
  const entries = await readdir(join(config.dataDir, 'blobs'), { recursive: true, withFileTypes: true }).catch(() => [])
  const files = entries.filter((entry) => entry.isFile() && entry.name !== 'store-id')
  return files.map(({ name }) => basename(name)).sort()
}

/** Deletes now what the sweep would delete in an hour. */
export const sweepNow = ({ api }: Pick<World, 'api'>): Promise<number> => api.services.blobs.sweep(new AbortController().signal, 0)
