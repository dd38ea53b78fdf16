import type { Client, Reply } from '#bench/soak/client.ts'
import { type Expected, knownBy, type Ledger, type Place } from '#bench/soak/ledger.ts'
import { valuesOf } from '#bench/soak/places.ts'

/** A kind of request: its rate per second, and how to send one to a workspace. */
export interface Kind {
  readonly name: string
  readonly perSecond: number
  readonly send: (place: Place, client: Client, ledger: Ledger) => Promise<Reply>
}

/** Data rows of an imported file: three steps of an import, so that a kill can hit between them. */
const rowsPerFile = 250

/** Duration of a function's wait, so that kills interrupt runs. */
const runMs = 50

/** The mixed load, 200 requests a second. */
export const kinds: readonly Kind[] = [
  { name: 'get', perSecond: 70, send: ({ orders, ids }, client) => client.send({ method: 'GET', path: `${orders}/${anyOf(ids).id}` }) },
  { name: 'list', perSecond: 23, send: ({ orders }, client) => client.send({ method: 'GET', path: `${orders}?limit=50` }) },
  { name: 'search', perSecond: 20, send: (place, client) => client.send({ method: 'GET', path: searchPath(place) }) },
  { name: 'audit', perSecond: 5, send: ({ org }, client) => client.send({ method: 'GET', path: `${org}/audit?limit=50` }) },
  { name: 'inbox', perSecond: 5, send: ({ org }, client) => client.send({ method: 'GET', path: `${org}/notifications?limit=50` }) },
  { name: 'create', perSecond: 30, send: create },
  { name: 'create, by key', perSecond: 5, send: createByKey },
  { name: 'update', perSecond: 22, send: update },
  { name: 'delete', perSecond: 3, send: remove },
  { name: 'import', perSecond: 0.5, send: importFile },
  { name: 'export', perSecond: 0.5, send: ({ orders }, client) => client.send({ method: 'GET', path: `${orders}/export?q=first` }) },
  { name: 'invoke', perSecond: 10, send: invoke },
  { name: 'invoke, creates', perSecond: 6, send: makeByFunction },
]

async function create(place: Place, client: Client, ledger: Ledger): Promise<Reply> {
  const one = ledger.expect(place, ledger.mark('create'), 'new')
  const reply = await client.send({ method: 'POST', path: place.orders, body: creation(one) })
  noteCreated(one, reply)
  return reply
}

/** A careful caller: repeats the request under one key until it is answered. */
async function createByKey(place: Place, client: Client, ledger: Ledger): Promise<Reply> {
  const one = ledger.expect(place, ledger.mark('key'), 'new')
  const headers = { 'idempotency-key': one.mark }
  for (;;) {
    const reply = await client.send({ method: 'POST', path: place.orders, body: creation(one), headers })
    noteCreated(one, reply)
    if (one.made !== 'maybe') return reply
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function update(place: Place, client: Client, ledger: Ledger): Promise<Reply> {
  const { id, mark } = anyOf(place.ids.filter(({ mark }) => !place.busy.has(mark)))
  const one = ledger.expected.get(mark) as Expected
  const notes = ledger.mark('change')
  place.busy.add(mark)
  const reply = await client.send({ method: 'PUT', path: `${place.orders}/${id}/values`, body: JSON.stringify({ values: { notes } }) })
  place.busy.delete(mark)
  const known = knownBy(reply)
  one.changes.set(notes, known)
  if (known === 'yes') one.notes = notes
  return reply
}

async function remove(place: Place, client: Client, ledger: Ledger): Promise<Reply> {
  const one = ledger.expected.get(place.doomed.pop() ?? '')
  if (!one) return create(place, client, ledger)
  one.gone = 'maybe'
  const reply = await client.send({ method: 'DELETE', path: `${place.orders}/${one.id}` })
  one.gone = knownBy(reply)
  return reply
}

async function importFile(place: Place, client: Client, ledger: Ledger): Promise<Reply> {
  const group = ledger.mark('file')
  const rows = Array.from({ length: rowsPerFile }, (_, index) => ledger.expect(place, `${group} row ${index}`, 'imported', group))
  const body = ['mark,price,count,notes', ...rows.map(({ mark }) => `${mark},12.50,3,imported`)].join('\n')
  const reply = await client.send({ method: 'POST', path: `${place.orders}/import`, body, headers: { 'content-type': 'text/csv' } })
  const known = knownBy(reply)
  const isWhole = known === 'yes' && JSON.parse(reply.text).data.created === rowsPerFile
  for (const row of rows) row.made = known
  return known === 'yes' && !isWhole ? { ...reply, status: 0, failure: `not all rows: ${reply.text.slice(0, 200)}` } : reply
}

async function invoke({ waiter }: Place, client: Client): Promise<Reply> {
  return runOf(await client.send({ method: 'POST', path: waiter, body: `{"input":${runMs}}` })).reply
}

async function makeByFunction(place: Place, client: Client, ledger: Ledger): Promise<Reply> {
  const one = ledger.expect(place, ledger.mark('invoke'), 'new')
  const answer = await client.send({ method: 'POST', path: place.maker, body: JSON.stringify({ input: valuesOf(one.mark, 'new') }) })
  const { reply, result } = runOf(answer)
  one.made = knownBy(reply)
  if (one.made === 'yes') one.id = result as string
  return reply
}

/** The result of a run. An interrupted run may have done anything before, and its answer says so: for its caller it has no answer. */
function runOf(reply: Reply): { readonly reply: Reply; readonly result?: unknown } {
  if (knownBy(reply) !== 'yes') return { reply }
  const { result, error } = JSON.parse(reply.text).data as { result: unknown; error?: string }
  return error === undefined ? { reply, result } : { reply: { ...reply, status: 0, failure: error } }
}

const creation = ({ mark }: Expected): string => JSON.stringify({ values: valuesOf(mark, 'new') })

function noteCreated(one: Expected, reply: Reply): void {
  one.made = knownBy(reply)
  if (one.made !== 'yes') return
  const { id, values } = JSON.parse(reply.text).data as { id: string; values: { number: string } }
  Object.assign(one, { id, number: values.number })
  if (one.mark.endsWith('5')) one.place.doomed.push(one.mark)
  else one.place.ids.push({ id, mark: one.mark })
}

const searchPath = (place: Place): string => {
  const filter = JSON.stringify([{ field: 'mark', op: 'eq', value: anyOf(place.ids).mark }])
  return `${place.orders}?filter=${encodeURIComponent(filter)}`
}

function anyOf<T>(list: readonly T[]): T {
  return list[Math.floor(Math.random() * list.length)] as T
}
