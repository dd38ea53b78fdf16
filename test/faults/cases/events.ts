import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Database } from '#shared/platform/db/database.ts'
import { drain } from '#test/faults/accounts.ts'
import type { FaultCase, Figures } from '#test/faults/case.ts'
import { type Account, accountChains, accountChanges, accountReader, accountWhole, type Rights } from '#test/faults/events/account.ts'
import { Reader } from '#test/faults/events/readers.ts'
import { delayCommits, latestSeconds, readEntries, readLateCommits } from '#test/faults/events/rows.ts'
import { type Change, type Desk, type Held, types, writeAt } from '#test/faults/events/writers.ts'
import { Sender } from '#test/faults/load/sender.ts'
import { hangMs, seconds } from '#test/faults/measure.ts'
import { openSite, type Site } from '#test/faults/site.ts'
import { until } from '#test/faults/until.ts'
import { createMember, createService } from '#test/support/factories.ts'
import { made } from '#test/support/made.ts'

const [writers, kills, sharedRecords] = [32, 20, 16]

/** Events of a run; FEED_EVENTS makes it a long one. */
const size = Number(process.env.FEED_EVENTS ?? 8_000)

/** Time for begun requests to be answered after the end of the load. */
const patienceMs = 60_000

const read = (type: string, more: object = {}) => ({ effect: 'allow', actions: ['records:read'], resources: [type], ...more })

/** The readers besides the owner: their rules, and what these mean. */
const readers: readonly { readonly name: string; readonly policy: readonly object[]; readonly rights: Rights }[] = [
  {
    name: 'a reader of parcels in the north without secrets',
    policy: [read('parcels', { condition: { 'resource.region': { eq: 'north' } }, fields: { deny: ['secret'] } })],
    rights: { sees: (type, { region }) => type === 'parcels' && region === 'north', shows: (_, key) => key !== 'secret' },
  },
  {
    name: 'a reader of notes of parcels and of letters of rank',
    policy: [read('parcels', { fields: { allow: ['notes', 'region'] } }), read('letters', { condition: { 'resource.rank': { gt: 50 } } })],
    rights: {
      sees: (type, { rank }) => type === 'parcels' || (typeof rank === 'number' && rank > 50),
      shows: (type, key) => type === 'letters' || key === 'notes' || key === 'region',
    },
  },
  {
    name: 'a service that may not read the south',
    policy: [
      ...types.map((type) => read(type)),
      { ...read('letters', { condition: { 'resource.region': { eq: 'south' } } }), effect: 'deny' },
    ],
    rights: { sees: (type, { region }) => type !== 'letters' || region !== 'south', shows: () => true },
  },
]

/**
 * Writers create, change and delete records, some commits come ten seconds late, and the processes that number events are killed. Every reader
 * has every event that it may see once and in order, changes of a record follow each other, and nothing appears below a number that was read.
 */
export const eventsKilled: FaultCase = {
  name: 'the list of events, late commits, kill -9 of those who number',
  limitSeconds: 180 + size / 50,
  run: async (t) => {
    const numbering = [['flows'], ['flows'], ['flows']] as const
    const site = await openSite(t, {
      workerPools: [...numbering, ['functions', 'data', 'mail', 'schedule']],
      apiEnvironment: { DATABASE_CONNECTIONS: '30' },
    })
    const sender = senderOf(site, site.org.owner.token)
    const shared = await prepare(site)
    const following = await openReaders(site)
    await delayCommits(site.db)
    const [changes, enough]: [Change[], AbortController] = [[], new AbortController()]
    let killed = 0
    let isSettled = false
    const desk: Desk = {
      sender,
      path: site.org.path,
      changes,
      shared,
      isOver: () => killed >= kills && changes.length >= size,
      enough: enough.signal,
    }
    const writing = Promise.all(Array.from({ length: writers }, () => writeAt(desk)))
    const reading = Promise.all(following.map((reader) => reader.follow(() => isSettled)))
    writing.catch(() => enough.abort())
    reading.catch(() => enough.abort())
    for (; killed < kills && !enough.signal.aborted; killed++) {
      await until(() => changes.length >= (size * killed) / kills || enough.signal.aborted)
      const member = site.workers[killed % numbering.length]
      await delay(randomInt(200))
      await member?.kill()
      await member?.start()
    }
    await until(() => desk.isOver() || enough.signal.aborted)
    const timer = setTimeout(() => enough.abort(), patienceMs)
    await writing
    clearTimeout(timer)
    const left = await drain(site)
    isSettled = true
    await reading
    return settle(site, desk, following, left)
  },
}

const senderOf = ({ apis }: Site, token: string | null): Sender =>
  new Sender(
    apis.map(({ root }) => root),
    token ?? '',
  )

/** Makes the types and the records that all writers change. */
async function prepare({ org: { owner, path } }: Site): Promise<Held[]> {
  for (const key of types) {
    await made(owner.post(`${path}/types`, { key, label: key }))
    for (const [field, type] of Object.entries({ notes: 'string', region: 'string', rank: 'number', secret: 'string' }))
      await made(owner.post(`${path}/fields`, { entity_type: key, key: field, label: field, type }))
  }
  const shared = Array.from({ length: sharedRecords }, (_, index) => types[index % types.length] ?? types[0])
  return Promise.all(shared.map(async (type) => ({ type, id: (await made(owner.post(`${path}/records/${type}`, { values: {} }))).id })))
}

/** The owner and the readers, who begin with the first event. */
async function openReaders(site: Site): Promise<Reader[]> {
  const { cluster, org, apis } = site
  const database = new Database(cluster.url, { connections: 2, name: 'faults', statementTimeoutMs: 15_000 })
  try {
    const maker = { api: { services: { database } }, visitor: org.owner.as(null) }
    const all = [new Reader('the owner', senderOf(site, org.owner.token), org.path)]
    for (const [index, { name, policy }] of readers.entries()) {
      const create = index === apis.length ? createService : createMember
      const { client } = await create(maker, org, policy)
      all.push(new Reader(name, senderOf(site, client.token), org.path))
    }
    return all
  } finally {
    await database.close()
  }
}

async function settle(
  site: Site,
  { sender, changes }: Desk,
  [owner, ...others]: readonly Reader[],
  left: readonly string[],
): Promise<Figures> {
  if (!owner) throw new Error('There is no reader')
  const all = owner.events
  const accounts: Account[] = [
    accountWhole(owner, await readEntries(site.db, site.org.id)),
    accountChains(all),
    accountChanges(all, changes),
    ...others.map((reader, index) => accountReader(reader, all, (readers[index] as (typeof readers)[number]).rights)),
  ]
  const late = await readLateCommits(site.db)
  const senders = [sender, owner.sender, ...others.map((reader) => reader.sender)]
  const slowest = senders.map((one) => one.slowest).toSorted((one, other) => other.ms - one.ms)[0] ?? sender.slowest
  const counts = [owner, ...others].map(({ events }) => events.length)
  const rereads = sum([owner, ...others].map((reader) => reader.rereads))
  const wrong = [...senders.flatMap((one) => [...one.wrong]), ...[owner, ...others].flatMap((reader) => [...reader.wrong]), ...left]
  if (late.longest < latestSeconds / 2) wrong.push(`No commit was late: the longest took ${late.longest} s`)
  if (counts.some((count) => count === 0)) wrong.push(`A reader got no event: ${counts}`)
  return {
    faults: kills,
    acknowledged: changes.length,
    lost: sum(accounts.map(({ lost }) => lost)),
    repeated: sum(accounts.map(({ repeated }) => repeated)),
    // The case holds a request back for so long itself.
    hung: slowest.ms > hangMs + latestSeconds * 1_000 ? 1 : 0,
    failed: sum(senders.map(({ failed }) => failed)),
    givenUp: 0,
    slowest,
    note: `${owner.lastSeq} events, readers got ${counts.join(', ')}; ${rereads} pages read again; ${late.count} late commits, up to ${late.longest.toFixed(1)} s; ${lagOf(owner, changes)}`,
    wrong: [...wrong, ...accounts.flatMap((account) => account.wrong)],
  }
}

/** How long after their answer changes were read. */
function lagOf({ events, times }: Reader, changes: readonly Change[]): string {
  const readAt = new Map(events.map(({ type, subject, data }, index) => [`${type} ${subject.id} ${data.after?.notes}`, times[index] ?? 0]))
  const lags = changes.flatMap(({ event, record, token, answeredAt }) => {
    const at = token && readAt.get(`${event} ${record} ${token}`)
    return at ? [Math.max(0, at - answeredAt)] : []
  })
  const sorted = lags.toSorted((one, other) => one - other)
  const at = (share: number) => seconds(sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN)
  return `read ${at(0.5)} after the answer at the median, ${at(0.99)} at the 99th percentile`
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
