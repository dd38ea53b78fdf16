import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Database } from '#shared/platform/db/database.ts'
import { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { platformCause } from '#shared/platform/kernel/cause.ts'
import { queueMail } from '#shared/platform/mail/outbox.ts'
import type { FaultCase, Figures } from '#test/faults/case.ts'
import { mailed, wrongOfMails } from '#test/faults/mails.ts'
import { openSite, type Site } from '#test/faults/site.ts'
import { firstSpaces, spaceOf } from '#test/features/drive/support.ts'
import { startS3 } from '#test/platform/blobs/s3-server.ts'
import { startMailServer } from '#test/platform/mail/smtp.ts'
import { Client } from '#test/support/client.ts'
import { eventually } from '#test/support/eventually.ts'

/** How long a part is away, in milliseconds: longer than all attempts of an export last. */
const awayMs = 50_000
/** The first of the waiting work goes on within this time. */
const backWithinMs = 10_000
const hangMs = 10_000

/** The answers of calls by status, and the slowest. */
interface Calls {
  readonly byStatus: Map<number, number>
  slowestMs: number
}

async function call(calls: Calls, send: () => Promise<{ readonly status: number }>): Promise<number> {
  const began = performance.now()
  const { status } = await send()
  calls.slowestMs = Math.max(calls.slowestMs, performance.now() - began)
  calls.byStatus.set(status, (calls.byStatus.get(status) ?? 0) + 1)
  return status
}

/** The lines that the processes of a site have logged about a part and about jobs and requests that failed. */
async function logLines({ config }: Site): Promise<string[]> {
  const names = ['api-1', 'api-2', 'worker-1', 'worker-2']
  const texts = await Promise.all(names.map((name) => readFile(join(config.dataDir, `${name}.log`), 'utf8').catch(() => '')))
  return texts.flatMap((text) => text.split('\n')).filter(Boolean)
}

const wrongLines = (lines: readonly string[]): string[] =>
  lines.filter((line) => /job failed|request failed/.test(line)).map((line) => `Logged: ${line.slice(0, 300)}`)

const shown = ({ byStatus, slowestMs }: Calls): string =>
  `${[...byStatus].map(([status, count]) => `${count} x ${status}`).join(', ')}, slowest call ${Math.round(slowestMs)} ms`

/**
 * The file store is away for 50 s while exports wait for it, one worker is killed meanwhile, and callers read and write files: they are
 * answered 503, everything else is answered as usual, and each export is done once.
 */
export const storeAway: FaultCase = {
  name: 'the file store is away',
  limitSeconds: 180,
  run: async (t) => {
    const s3 = await startS3(t)
    const site = await openSite(t, { environment: s3.environment })
    const { owner, path } = site.org
    const { shared } = await firstSpaces(owner, site.org)
    const spaces = site.apis.map(({ root }) => spaceOf(new Client(root, owner.token), site.org, shared))
    await spaces[0]?.put('before', 'x')
    const wrong: string[] = []
    const calls: Calls = { byStatus: new Map(), slowestMs: 0 }
    s3.trouble.failures = 1
    const ids: string[] = []
    for (let n = 0; n < 8; n++) {
      const { data } = await owner.get(`${path}/records/locations/export`, { prefer: 'respond-async' })
      ids.push(data.job_id)
    }
    const end = performance.now() + awayMs
    let restarted: Promise<number> | undefined
    for (let n = 0; performance.now() < end; n++) {
      const space = spaces[n % spaces.length]
      const write = await call(calls, async () => (space ? space.put(`away ${n}`, 'x') : { status: 0 }))
      const read = await call(calls, async () => (space ? space.download('before') : { status: 0 }))
      const other = await owner.get(`${path}/records/locations`)
      if (write !== 503 || read !== 503) wrong.push(`While it was away, a write was answered ${write} and a read ${read}`)
      if (other.status !== 200) wrong.push(`A call that needs no file was answered ${other.status}`)
      if (n === 3) {
        await site.workers[0]?.kill()
        restarted = site.workers[0]?.start()
      }
      await delay(500)
    }
    s3.trouble.failures = 0
    const back = performance.now()
    const done = async () => {
      const { rows } = await site.db.query<{ status: string }>('select status from operations where id = any($1)', [ids])
      return rows.map(({ status }) => status)
    }
    await eventually(async () => (await done()).includes('done'))
    const firstMs = performance.now() - back
    await eventually(async () => (await done()).every((status) => status === 'done' || status === 'failed'))
    const allMs = performance.now() - back
    await restarted
    if (firstMs > backWithinMs) wrong.push(`The first export was done ${Math.round(firstMs)} ms after the store was back`)
    const failed = (await done()).filter((status) => status === 'failed').length
    const { rowCount: files } = await site.db.query('select from job_files')
    const { rowCount: dead } = await site.db.query("select from pgboss.job where name = 'dead-letters'")
    if ((dead ?? 0) > 0) wrong.push(`${dead} jobs are dead letters`)
    const lines = await logLines(site)
    wrong.push(...wrongLines(lines))
    return {
      ...noFigures,
      faults: 2,
      acknowledged: ids.length,
      lost: Math.max(0, ids.length - (files ?? 0)),
      repeated: Math.max(0, (files ?? 0) - ids.length),
      hung: calls.slowestMs > hangMs ? 1 : 0,
      givenUp: failed,
      slowest: { ms: calls.slowestMs, what: 'a call that needs the store' },
      note: `${shown(calls)}; first export after ${Math.round(firstMs)} ms, all ${ids.length} after ${Math.round(allMs)} ms; ${lines.length} lines logged`,
      wrong,
    }
  },
}

const mailCount = 75

/** The operator's mail server is away for 50 s, and one worker is killed meanwhile: every mail arrives once, soon after it is back. */
export const mailServerAway: FaultCase = {
  name: 'the mail server is away',
  limitSeconds: 180,
  run: async (t) => {
    const first = await startMailServer({ teardown: () => undefined })
    const { port } = first
    await first.stop()
    const site = await openSite(t, { environment: { SMTP_URL: first.url } })
    const database = new Database(site.config.databaseUrl, { connections: 2, name: 'faults', statementTimeoutMs: 15_000 })
    t.teardown(() => database.close())
    const jobQueue = new JobQueue(database, { supervise: false })
    await jobQueue.open(() => undefined)
    t.teardown(() => jobQueue.close())
    const cause = platformCause('faults')
    for (let n = 0; n < mailCount; n++) {
      const mail = { workspaceId: site.org.id, kind: 'test', to: `${n}@example.com`, subject: 'Hello', text: 'Hello' }
      await queueMail({ db: database, jobQueue, cause }, mail)
    }
    await delay(awayMs / 2)
    await site.workers[0]?.kill()
    await site.workers[0]?.start()
    await delay(awayMs / 2)
    const server = await startMailServer(t, port)
    const back = performance.now()
    await eventually(() => server.taken.length > 0)
    const firstMs = performance.now() - back
    await mailed(site)
    const allMs = performance.now() - back
    const lines = await logLines(site)
    const wrong = [...(await wrongOfMails(site, server, ['test'])), ...wrongLines(lines)]
    if (firstMs > backWithinMs) wrong.push(`The first mail arrived ${Math.round(firstMs)} ms after the server was back`)
    const away = lines.filter((line) => line.includes('the mail server is away')).length
    // One line per process that was started: two, and the one that replaced a killed one.
    if (away > 3) wrong.push(`${away} lines say that the server is away`)
    return {
      ...noFigures,
      faults: 2,
      acknowledged: mailCount,
      lost: Math.max(0, mailCount - server.taken.length),
      repeated: Math.max(0, server.taken.length - mailCount),
      note: `first mail after ${Math.round(firstMs)} ms, all ${mailCount} after ${Math.round(allMs)} ms; ${lines.length} lines logged`,
      wrong,
    }
  },
}

const noFigures: Omit<Figures, 'faults' | 'acknowledged' | 'wrong'> = {
  lost: 0,
  repeated: 0,
  hung: 0,
  failed: 0,
  givenUp: 0,
  slowest: { ms: 0, what: '' },
}
