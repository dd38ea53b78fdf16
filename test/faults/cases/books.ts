import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { updateMonthSums } from '#shared/features/accounting/reports/month-sums.ts'
import { Database } from '#shared/platform/db/database.ts'
import type { FaultCase, Figures } from '#test/faults/case.ts'
import { Sender, type Sent } from '#test/faults/load/sender.ts'
import { seconds } from '#test/faults/measure.ts'
import { openSite, type Site } from '#test/faults/site.ts'
import { until } from '#test/faults/until.ts'
import { openModelBooks } from '#test/features/accounting/model/books.ts'
import { type Operation, operation } from '#test/features/accounting/model/random.ts'
import { type Caller, type Checks, type Response, runModel } from '#test/features/accounting/model/run.ts'
import { eventually } from '#test/support/eventually.ts'

const clients = 8

/** Operations of a run; MODEL_OPERATIONS makes it a long one. */
const size = Number(process.env.MODEL_OPERATIONS ?? 2_000)

/** The processes that are killed one after the other while the clients work: every process that a posting uses. */
const kills: readonly ((site: Site) => Promise<unknown>)[] = [
  ({ apis: [api] }) => again(api),
  ({ cluster }) => cluster.crash('SIGKILL'),
  ({ apis: [, api] }) => again(api),
  ({ cluster }) => cluster.crash('SIGQUIT'),
  ({ workers: [worker] }) => again(worker),
]

async function again(member: Site['apis'][number] | undefined): Promise<void> {
  await member?.kill()
  await member?.start()
}

/**
 * Clients post, reverse, seal and read while APIs, the database and a worker are killed. A client without a response repeats its request
 * with the same key. Every report matches the model of the books, and the ledger holds exactly the acknowledged entries, once.
 */
export const booksKilled: FaultCase = {
  name: 'books, kill -9 of an API, of the database, of a worker',
  limitSeconds: 300 + size / 5,
  run: async (t) => {
    const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31)
    const site = await openSite(t)
    const sender = new Sender(
      site.apis.map(({ root }) => root),
      site.org.owner.token ?? '',
    )
    const db = new Database(site.cluster.url, { connections: 2, name: 'faults months', statementTimeoutMs: 15_000 })
    t.teardown(() => db.close())
    const { checks, wrong } = collected()
    const books = await openModelBooks(site.org)
    const callers = Array.from({ length: clients }, () => callerOf(sender))
    const months = () => untilDone(() => updateMonthSums({ db, workspace: site.org }))
    const progress = { begun: 0 }
    const operations = fc.sample(operation, { seed, numRuns: size })
    const working = runModel(checks, { ...books, clients: callers, sumMonths: months }, counted(operations, progress))
    const [ids] = await Promise.all([working, killDuring(site, progress)])
    return figuresOf(site, sender, ids, [...wrong, ...(wrong.length > 0 ? [`SEED=${seed} has it again`] : [])])
  },
}

/** Distributes the kills over the work. */
async function killDuring(site: Site, progress: { readonly begun: number }): Promise<void> {
  for (const [index, kill] of kills.entries()) {
    await until(() => progress.begun >= ((index + 1) * size) / (kills.length + 1))
    await kill(site)
  }
}

function* counted(operations: readonly Operation[], progress: { begun: number }): Generator<Operation> {
  for (const operation of operations) {
    progress.begun += 1
    yield operation
  }
}

/** A caller that repeats a request until it is answered. */
function callerOf(sender: Sender): Caller {
  const { signal } = new AbortController()
  const send = async (request: Sent): Promise<Response> => {
    const { status, data } = await sender.persistently({ ...request, mayBeRefused: true }, signal)
    return { status, data, text: JSON.stringify(data) ?? '' }
  }
  return {
    get: (path) => send({ method: 'GET', path }),
    post: (path, body, headers) => send({ method: 'POST', path, body, headers }),
  }
}

/** A worker computes the sums of months and retries. */
async function untilDone(work: () => Promise<void>): Promise<void> {
  await eventually(() =>
    work().then(
      () => true,
      () => false,
    ),
  )
}

/** Checks that collect violations in words. */
function collected(): { readonly checks: Checks; readonly wrong: readonly string[] } {
  const wrong: string[] = []
  const equal = (actual: unknown, expected: unknown, message = '') => {
    if (!isDeepStrictEqual(actual, expected))
      wrong.push(`${message}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`.slice(0, 1_000))
  }
  return { checks: { is: equal, deepEqual: equal, true: (actual, message) => equal(actual, true, message) }, wrong }
}

/** Compares the acknowledged entries with the stored ones. */
async function figuresOf({ db, org }: Site, sender: Sender, ids: readonly string[], wrong: readonly string[]): Promise<Figures> {
  const { rows } = await db.query<{ id: string }>('select id from journal_entries where workspace_id = $1', [org.id])
  const found = new Set(rows.map(({ id }) => id))
  const acknowledged = new Set(ids)
  return {
    faults: kills.length,
    acknowledged: acknowledged.size,
    lost: [...acknowledged].filter((id) => !found.has(id)).length,
    repeated: [...found].filter((id) => !acknowledged.has(id)).length,
    hung: sender.hung,
    failed: sender.failed,
    givenUp: sender.givenUp,
    slowest: sender.slowest,
    note: `${size} operations of ${clients} clients, slowest ${seconds(sender.slowest.ms)}`,
    wrong: [...sender.wrong, ...wrong],
  }
}
