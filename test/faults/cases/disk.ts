import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { settleAccounts } from '#test/faults/accounts.ts'
import type { FaultCase } from '#test/faults/case.ts'
import { type Disk, mountDisk } from '#test/faults/disk.ts'
import { type Load, startLoad } from '#test/faults/load/load.ts'
import { seconds } from '#test/faults/measure.ts'
import { openSite, type Site } from '#test/faults/site.ts'
import { Client } from '#test/support/client.ts'
import { eventually } from '#test/support/eventually.ts'

const wellMs = 3_000
/** How long the disk stays full after the first failed write. */
const fullMs = 5_000

interface FullDisk {
  readonly name: string
  readonly megabytes: number
  /** The folders of the database that are on this disk. */
  readonly folders: (disk: string, elsewhere: string) => { readonly data: string; readonly wal: string }
  /** Checks while the disk is full. */
  readonly whileFull: (site: Site) => Promise<string[]>
}

/**
 * A disk of the database runs full under load and has space again: no process ends, no acknowledged effect is lost, and all continue by
 * themselves.
 */
const diskFull = ({ name, megabytes, folders, whileFull }: FullDisk): FaultCase => ({
  name,
  limitSeconds: 150,
  run: async (t) => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'kontor-faults-disk-'))
    t.teardown(() => rm(elsewhere, { recursive: true, force: true }))
    const disk = await mountDisk(t, join(elsewhere, 'small'), megabytes)
    if (!disk) return { skipped: 'this process may not mount a small disk' }
    const site = await openSite(t, { folders: folders(disk.folder, elsewhere) })
    const load = await startLoad(site.org, site.apis)
    await delay(wellMs)
    await fillUntilFelt(disk, load)
    await delay(fullMs)
    const wrong = await whileFull(site)
    await disk.free()
    const began = performance.now()
    await Promise.all([...site.apis, ...site.workers].map(({ back }) => back()))
    await untilAcknowledged(load)
    const figures = await settleAccounts(site, load, 1, `writes again ${seconds(performance.now() - began)} after there is room`)
    if (![...site.apis, ...site.workers].every(({ lives }) => lives)) wrong.push('A process ended')
    return { ...figures, wrong: [...figures.wrong, ...wrong] }
  },
})

/** Reduces the free space until a write fails. */
async function fillUntilFelt(disk: Disk, { sender }: Load): Promise<void> {
  const before = sender.failed
  await eventually(async () => {
    await disk.fill()
    return sender.failed > before
  })
}

/** Waits until new writes are acknowledged. */
async function untilAcknowledged({ promises }: Load): Promise<void> {
  const before = promises.acknowledged
  await eventually(() => promises.acknowledged >= before + 20)
}

const creation = { method: 'POST', body: { values: { name: 'while the disk is full' } } }

/** Asks every API; returns the responses with another status. */
async function held(
  { apis, org }: Site,
  expected: readonly { readonly path: string; readonly method?: string; readonly body?: unknown; readonly status: number }[],
): Promise<string[]> {
  const wrong: string[] = []
  for (const { root } of apis) {
    for (const { path, method = 'GET', body, status } of expected) {
      const answer = await new Client(root, org.owner.token).send(method, path, body)
      if (answer.status !== status) wrong.push(`${method} ${path} was answered ${answer.status} and not ${status} while the disk was full`)
    }
  }
  return wrong
}

/** PostgreSQL refuses writes that do not fit and continues: reads are answered. */
export const dataDiskFull = diskFull({
  name: 'the disk of the data is full',
  megabytes: 128,
  folders: (disk, elsewhere) => ({ data: join(disk, 'data'), wal: elsewhere }),
  whileFull: (site) => {
    const path = `${site.org.path}/records/locations`
    return held(site, [
      { path: `${path}?limit=5`, status: 200 },
      { path: '/readyz', status: 200 },
    ])
  },
})

/**
 * PostgreSQL ends and cannot start: APIs and workers stay alive, report that they are not ready, and respond with the usual form of
 * failures.
 */
export const walDiskFull = diskFull({
  name: 'the disk of the write-ahead log is full',
  megabytes: 192,
  folders: (disk, elsewhere) => ({ data: join(elsewhere, 'data'), wal: disk }),
  whileFull: (site) => {
    const path = `${site.org.path}/records/locations`
    return held(site, [
      { path, ...creation, status: 503 },
      { path: '/healthz', status: 200 },
      { path: '/readyz', status: 503 },
    ])
  },
})
