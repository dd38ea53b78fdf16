import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestFn } from 'ava'
import { callWith } from '#test/bin/call.ts'
import { createService } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const folder = mkdtempSync(join(tmpdir(), 'kontor-import-'))
process.once('exit', () => rmSync(folder, { recursive: true }))

/** A CSV file of a test's own, under this name. */
export function fileOf(name: string, text: string | Uint8Array): string {
  const path = join(mkdtempSync(join(folder, 'file-')), name)
  writeFileSync(path, text)
  return path
}

/** Gives each test of a file a workspace, and `kontor import` as a service account of it. */
export function importingFor(test: TestFn) {
  const take = shareWorld(test)
  return async (policy: readonly object[] = [{ effect: 'allow', actions: ['*'] }]) => {
    const w = await take()
    const robot = await createService(w, w.org, policy)
    const environment = { KONTOR_URL: `http://127.0.0.1:${w.api.port}`, KONTOR_KEY: robot.client.token ?? '', DATA_DIR: w.config.dataDir }
    return { w, environment, kontorImport: (...args: readonly string[]) => callWith(environment, 'import', ...args) }
  }
}

/** The first records of a type, in the order of their creation, with their number. */
export const recordsOf = async (w: World, type: string) =>
  (await w.org.owner.get(`${w.org.path}/records/${type}?sort=created_at&dir=asc&limit=200`)).data

/** The fields of a type. */
export const fieldsOf = async (w: World, type: string) => (await w.org.owner.get(`${w.org.path}/fields?entity_type=${type}`)).data

/** The keys of all types. */
export const typesOf = async (w: World): Promise<readonly string[]> =>
  (await w.org.owner.get(`${w.org.path}/types`)).data.map(({ key }: { key: string }) => key)
