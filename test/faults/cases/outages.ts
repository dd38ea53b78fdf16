import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { settleAccounts } from '#test/faults/accounts.ts'
import type { FaultCase } from '#test/faults/case.ts'
import { mountDisk } from '#test/faults/disk.ts'
import { startLoad } from '#test/faults/load/load.ts'
import { seconds } from '#test/faults/measure.ts'
import { type Network, startNetwork } from '#test/faults/network.ts'
import { openSite, type Site } from '#test/faults/site.ts'
import { firstSpaces, spaceOf } from '#test/features/drive/support.ts'
import { startS3 } from '#test/platform/blobs/s3-server.ts'
import { Client } from '#test/support/client.ts'
import { eventually } from '#test/support/eventually.ts'
import { takeConnections } from '#test/support/take-connections.ts'

const wellMs = 2_000
const awayMs = 20_000
/** The longest that a call may take while a part is away. */
const answerMs = 4_000

/** Calls one API as a client does that is not told of the outage. */
interface Caller {
  /** Answers by status, 0 without one. */
  readonly statuses: Map<number, number>
  /** Answers with 503 that are no UNAVAILABLE, or have no Retry-After. */
  readonly wrong: Set<string>
  slowestMs: number
  /** When the last call succeeded, by `performance.now()`. */
  succeededAt: number
  readonly stop: () => Promise<void>
}

/** Reads and creates in turn, eight calls a second, until it is stopped. */
function startCaller({ org }: Site, root: string): Caller {
  const owner = new Client(root, org.owner.token).withoutRetries()
  const path = `${org.path}/records/locations`
  const stopping = new AbortController()
  const open = new Set<Promise<void>>()
  const caller = { statuses: new Map<number, number>(), wrong: new Set<string>(), slowestMs: 0, succeededAt: 0 }
  const call = async (number: number) => {
    const began = performance.now()
    const sent = number % 2 === 0 ? owner.get(`${path}?limit=5`) : owner.post(path, { values: { name: `during ${number}` } })
    const answer = await sent.catch(() => undefined)
    const status = answer?.status ?? 0
    caller.statuses.set(status, (caller.statuses.get(status) ?? 0) + 1)
    caller.slowestMs = Math.max(caller.slowestMs, performance.now() - began)
    if (status < 300 && status > 0) caller.succeededAt = performance.now()
    if (status === 503 && !(answer?.body.error.code === 'UNAVAILABLE' && answer.headers.get('retry-after')))
      caller.wrong.add(`503 was ${answer?.body.error.code}, Retry-After ${answer?.headers.get('retry-after')}`)
    if (status === 0 || status === 500) caller.wrong.add(`A call was answered ${status} ${answer?.body?.error?.message ?? ''}`)
  }
  const running = (async () => {
    for (let number = 0; !stopping.signal.aborted; number++) {
      const called = call(number).finally(() => open.delete(called))
      open.add(called)
      await delay(125)
    }
    await Promise.all(open)
  })()
  return Object.assign(caller, {
    stop: async () => {
      stopping.abort()
      await running
    },
  })
}

/** Lines of a process's log that the outage wrote. */
async function linesOf({ config }: Site, name: string): Promise<string[]> {
  const text = await readFile(join(config.dataDir, `${name}.log`), 'utf8')
  const lines = text
    .split('\n')
    .filter(Boolean)
    .map((line) => String((JSON.parse(line) as { msg: string }).msg))
  return lines.filter((line) => !line.startsWith('slow '))
}

const statusesOf = ({ statuses }: Caller): string =>
  [...statuses]
    .toSorted(([one], [other]) => one - other)
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ')

/** The database cannot be reached by the first API and the first worker for 20 s. */
export const databaseAway: FaultCase = {
  name: 'the database is away for 20 s',
  limitSeconds: 180,
  run: async (t) => {
    const networks: Network[] = []
    const through = async (url: string) => {
      const network = await startNetwork(t, url)
      networks.push(network)
      return network.url
    }
    const site = await openSite(t, { through })
    const [network] = networks
    const [api] = site.apis
    if (!network || !api) throw new Error('Nobody asked for the network')
    const load = await startLoad(site.org, site.apis)
    const caller = startCaller(site, api.root)
    await delay(wellMs)
    network.cut()
    await delay(awayMs)
    network.mend()
    const mendedAt = performance.now()
    await eventually(() => caller.succeededAt > mendedAt)
    const well = caller.succeededAt - mendedAt
    await Promise.all([...site.apis, ...site.workers].map(({ back }) => back()))
    await caller.stop()
    const figures = await settleAccounts(site, load, 1)
    const wrong = [...figures.wrong, ...caller.wrong]
    for (const name of ['api-1', 'worker-1']) {
      const lines = await linesOf(site, name)
      const expected = ['the database is away', 'the database is back']
      if (lines.join() !== expected.join()) wrong.push(`${name} logged ${lines.length} lines: ${[...new Set(lines)].join(', ')}`)
    }
    if (caller.slowestMs > answerMs) wrong.push(`A call took ${seconds(caller.slowestMs)}`)
    return { ...figures, wrong, note: `${statusesOf(caller)}; well ${seconds(well)} after it is back; 2 lines of log per process` }
  },
}

/** Other programs hold all connections of the database for 20 s; the first API is restarted into that. */
export const connectionsUsedUp: FaultCase = {
  name: 'max_connections is used up for 20 s',
  limitSeconds: 240,
  run: async (t) => {
    const site = await openSite(t)
    const [api] = site.apis
    const [worker] = site.workers
    if (!api || !worker) throw new Error('There is no process')
    const load = await startLoad(site.org, site.apis)
    const caller = startCaller(site, api.root)
    await delay(wellMs)
    await worker.stop()
    const { free, takeThoseOfKontor } = await takeConnections(t, site.cluster.url)
    // It waits for connections, and is ready afterwards.
    const started = worker.start()
    await takeThoseOfKontor()
    await delay(awayMs)
    await free()
    const freedAt = performance.now()
    await eventually(() => caller.succeededAt > freedAt)
    const well = caller.succeededAt - freedAt
    await started
    await Promise.all([...site.apis, ...site.workers].map(({ back }) => back()))
    await caller.stop()
    const figures = await settleAccounts(site, load, 1)
    const wrong = [...figures.wrong, ...caller.wrong]
    const lines = await Promise.all(['api-1', 'worker-1'].map(async (name) => (await linesOf(site, name)).length))
    return { ...figures, wrong, note: `${statusesOf(caller)}; well ${seconds(well)} after; ${lines.join(' and ')} lines of log` }
  },
}

/** With S3, the disk that uploads are spooled to is full. */
export const spoolFull: FaultCase = {
  name: 'the disk of the spool is full',
  limitSeconds: 120,
  run: async (t) => {
    const s3 = await startS3(t)
    const site = await openSite(t, { environment: s3.environment })
    const disk = await mountDisk(t, join(site.config.dataDir, 'spool'), 8)
    if (!disk) return { skipped: 'this process may not mount a small disk' }
    const [api] = site.apis
    const owner = new Client(api?.root ?? '', site.org.owner.token).withoutRetries()
    const space = spaceOf(owner, site.org, (await firstSpaces(site.org.owner, site.org)).shared)
    await disk.fill()
    const refused = await space.put('while full', randomBytes(2_000_000))
    await disk.free()
    const after = await space.put('after', randomBytes(2_000_000))
    const wrong = [
      ...(refused.status === 503 && /UNAVAILABLE.*no room/.test(refused.text) ? [] : [`While full: ${refused.status} ${refused.text}`]),
      ...(after.status === 201 ? [] : [`With room again: ${after.status} ${after.text}`]),
    ]
    return {
      faults: 1,
      acknowledged: 1,
      lost: 0,
      repeated: 0,
      hung: 0,
      failed: 1,
      givenUp: 0,
      wrong,
      slowest: { ms: 0, what: 'an upload' },
    }
  },
}
