import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { settleAccounts } from '#test/faults/accounts.ts'
import type { FaultCase, Teardown } from '#test/faults/case.ts'
import { changes, creations, imports } from '#test/faults/load/kinds.ts'
import { startLoad } from '#test/faults/load/load.ts'
import type { Member } from '#test/faults/member.ts'
import { openSite, type Site } from '#test/faults/site.ts'
import type { Client } from '#test/support/client.ts'
import { openStream } from '#test/support/event-stream.ts'
import { eventually } from '#test/support/eventually.ts'
import { made } from '#test/support/made.ts'
import type { Answer } from '#test/support/send-request.ts'

const kills = 20

/** Readers of each kind: the owner, and keys that see some of the records. */
const readersOfEach = 4

/** Milliseconds after which a reader whose stream broke connects again. */
const reconnectMs = 100

/** Less than the usual load: what is killed shall be back soon. */
const mix = [
  { kind: creations, streams: 4, restMs: 100 },
  { kind: changes, streams: 2, restMs: 100 },
  { kind: imports, streams: 1, restMs: 500 },
] as const

/** A client that follows the events of the workspace, over as many connections as it needs. */
interface Reader {
  readonly client: Client
  /** The numbers of the events that it got, in the order in which it got them. */
  readonly seqs: number[]
  connections: number
}

/** APIs and workers are killed in turn while readers follow the events of all that the load does. */
export const streamsKilled: FaultCase = {
  name: 'kill -9 of APIs and workers while streams send events',
  limitSeconds: 400,
  run: async (t) => {
    const site = await openSite(t)
    const after = (await dataOf(site.org.owner.get(`${site.org.path}/events`))).last_seq
    const some = await createKey(site)
    const readers = [site.org.owner, some].flatMap((client) =>
      Array.from({ length: readersOfEach }, (): Reader => ({ client, seqs: [], connections: 0 })),
    )
    const over = new AbortController()
    const reading = readers.map((reader) => readOn(t, site, reader, `${after}`, over.signal))
    const load = await startLoad(site.org, site.apis, { mix })
    const members = [site.apis[0], site.workers[0], site.apis[1], site.workers[1]]
    for (let kill = 0; kill < kills; kill += 1) {
      await delay(randomInt(200, 1_000))
      const member = members[kill % members.length]
      await member?.kill()
      await member?.start()
    }
    const figures = await settleAccounts(site, load, kills)
    const wrong: string[] = []
    for (const reader of readers) wrong.push(...(await compare(site, reader, after)))
    over.abort()
    await Promise.all(reading)
    const connections = readers.reduce((sum, reader) => sum + reader.connections, 0)
    const note = `${readers[0]?.seqs.length} events for the owner, ${readers.at(-1)?.seqs.length} for a key, over ${connections} connections`
    return { ...figures, note, wrong: [...figures.wrong, ...wrong] }
  },
}

/** A key that reads the locations whose names contain an `a`. */
async function createKey({ org: { owner, path } }: Site): Promise<Client> {
  const rule = { effect: 'allow', actions: ['records:read'], resources: ['locations'], condition: { 'resource.name': { contains: 'a' } } }
  const { id: roleId } = await made(owner.post(`${path}/iam/groups`, { name: 'Some', policy: [rule] }))
  const { id } = await made(owner.post(`${path}/service-accounts`, { name: 'Reader', role_ids: [roleId] }))
  const { key } = await dataOf(owner.post(`${path}/service-accounts/${id}/keys`, { name: 'Reader' }))
  return owner.as(key)
}

/** The data of an answer; throws the response of a failure. */
async function dataOf(answer: Promise<Answer>): Promise<Answer['data']> {
  await made(answer)
  return (await answer).data
}

async function readOn(t: Teardown, { apis, org }: Site, reader: Reader, start: string, signal: AbortSignal): Promise<void> {
  for (let last = start; !signal.aborted; await delay(reconnectMs)) last = await readOnce(t, apis, org.path, reader, last, signal)
}

/** Reads from one API until the connection breaks, and returns the id of the last event. */
async function readOnce(
  t: Teardown,
  apis: readonly Member[],
  path: string,
  reader: Reader,
  last: string,
  signal: AbortSignal,
): Promise<string> {
  const { root } = apis[randomInt(apis.length)] ?? { root: '' }
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${reader.client.token}`, 'last-event-id': last }
  const stream = await openStream(t, `${root}${path}/events`, headers).catch(() => undefined)
  if (stream?.answer.statusCode !== 200) {
    stream?.cut()
    return last
  }
  reader.connections += 1
  let [taken, id] = [0, last]
  const take = () => {
    const events = stream.events().slice(taken)
    taken += events.length
    for (const event of events) {
      if (event.event !== 'seen') reader.seqs.push(event.event === 'resync' ? -1 : (event.data as { seq: number }).seq)
      id = event.id ?? id
    }
  }
  while (!stream.hasEnded() && !signal.aborted) {
    take()
    await delay(50)
  }
  stream.cut()
  take()
  return id
}

/** Waits until a reader has as many events as it may read, and compares them. */
async function compare({ org }: Site, { client, seqs }: Reader, after: number): Promise<string[]> {
  const expected: number[] = []
  for (let at = `${after}`; ; ) {
    const page = await dataOf(client.get(`${org.path}/events?after=${at}&limit=500`))
    expected.push(...page.events.map(({ seq }: { seq: number }) => seq))
    at = page.next_after
    if (Number(at.split(':')[1]) === page.last_seq) break
  }
  await eventually(() => seqs.length >= expected.length).catch(() => undefined)
  const differs = expected.findIndex((seq, index) => seqs[index] !== seq)
  if (differs < 0 && seqs.length === expected.length) return []
  return [
    `A reader got ${seqs.length} of ${expected.length} events; number ${differs} was ${seqs[differs]} instead of ${expected[differs]}`,
  ]
}
