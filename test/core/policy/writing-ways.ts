import { type ExpectedAccess, masked, type Seen } from '#test/core/policy/expected-access.ts'
import { typeKey } from '#test/core/policy/random.ts'
import type { Reader } from '#test/core/policy/reading-ways.ts'

/** A caller that reads and writes. */
export interface Writer extends Reader {
  readonly update: ExpectedAccess
  readonly delete: ExpectedAccess
  readonly create: ExpectedAccess
  readonly callerId: string
}

/** Values of a record that is created without them. */
export const defaults: Readonly<Record<string, unknown>> = { a_select: 'b', a_bool: true }

/** Changes without effect: each readable record responds by what else the caller may do with it, and shows no more than a read. */
async function walkChanges(writer: Writer): Promise<void> {
  const { t, all, client, org, read, update } = writer
  const operations = all.map(({ id }) => ({ op: 'update', id, values: {} }))
  const { data } = await client.post(`${org.path}/records/${typeKey}/batch`, { operations })
  for (const [index, record] of all.entries()) {
    const result = data.results[index]
    const answer = await client.put(`${org.path}/records/${typeKey}/${record.id}/values`, { values: {} })
    const expected = statusOf(writer, record, update)
    t.true(expected.includes(answer.status) && result.status === (answer.status === 204 ? 200 : answer.status), answer.text)
    const view = result.status === 200 ? masked(record, read.shows(record)) : null
    t.deepEqual(result.record, JSON.parse(JSON.stringify(view)))
  }
}

/** Deletions that a later failure rolls back. */
async function walkDeletions(writer: Writer): Promise<void> {
  const { t, all, client, org } = writer
  const fails = { op: 'update', id: 'none', values: {} }
  for (const record of all) {
    const operations = [{ op: 'delete', id: record.id }, fails]
    const answer = await client.post(`${org.path}/records/${typeKey}/batch`, { operations, atomic: true })
    const expected = statusOf(writer, record, writer.delete)
    const isDone = answer.body.error.message.startsWith('operations[1]')
    t.true(isDone ? expected.includes(204) : expected.includes(answer.status), answer.text)
  }
}

/** Changes by a filter: what the caller may read matches, what it may not change is skipped. Deletions name only records that it may not delete. */
async function walkMatching(writer: Writer): Promise<void> {
  const { all, update } = writer
  await requireSkipped(writer, 'update-where', { filter: [], values: {} }, all, update)
  const kept = all.filter((record) => !writer.delete.allows(record))
  const filter = { field: 'id', op: 'in', value: kept.map(({ id }) => id) }
  if (kept.length > 0) await requireSkipped(writer, 'delete-where', { filter }, kept, writer.delete)
}

/** A change by a filter that matches these records and changes none. A caller that may read or change none of the type may be refused. */
async function requireSkipped(writer: Writer, route: string, body: object, among: readonly Seen[], action: ExpectedAccess): Promise<void> {
  const { t, all, client, org, read } = writer
  const { status, data, text } = await client.post(`${org.path}/records/${typeKey}/${route}`, body)
  if (status === 403) {
    t.false(all.some(read.allows) && all.some(action.allows), text)
    return
  }
  t.is(status, 200, text)
  const matched = among.filter(read.allows)
  const refused = matched.filter((record) => !action.allows(record)).map(({ id }) => ({ id, code: 'FORBIDDEN' }))
  const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1)
  t.deepEqual(data, { matched: matched.length, changed: 0, skipped: refused.sort(byId) }, text)
}

/** "Not readable is 404, readable but not updatable 403"; a caller that may do it with no record of the type gets the refusal first. */
function statusOf({ all, read }: Writer, record: Seen, action: ExpectedAccess): readonly number[] {
  if (!action.allows(record)) return read.allows(record) ? [403] : all.some(action.allows) ? [404] : [403, 404]
  return read.allows(record) ? [204] : [404]
}

/** Creations equal to records of the owner: allowed when the rules permit the sent and the stored values. */
async function walkCreations(writer: Writer): Promise<void> {
  const { t, all, callerId, client, org, create, read } = writer
  for (const made of all.slice(0, 4)) {
    const { twice: _, again: __, ...given } = made.values
    // Values with a default are omitted, so that sent and stored values differ.
    const sent = Object.fromEntries(Object.entries(given).filter(([key, value]) => value !== null && value !== defaults[key]))
    const draft = { ...made, id: null as unknown as string, created_by: callerId, created_at: new Date().toISOString() }
    const isAllowed = create.allows({ ...draft, values: sent }) && create.allows(draft)
    const answer = await client.post(`${org.path}/records/${typeKey}`, JSON.stringify({ values: sent }), {
      'content-type': 'application/json',
    })
    t.is(answer.status, isAllowed ? 201 : 403, answer.text)
    if (answer.status === 201) {
      const stored = await org.owner.get(`${org.path}/records/${typeKey}/${answer.data.id}`)
      const record = { ...made, ...stored.data, values: made.values }
      const shown = read.allows(record) ? read.shows(record) : new Set<string>()
      t.deepEqual(
        Object.keys(answer.data.values),
        Object.keys(made.values).filter((key) => shown.has(key)),
      )
      await org.owner.delete(`${org.path}/records/${typeKey}/${answer.data.id}`)
    }
  }
}

/** Every way by which a caller changes records. They leave all records unchanged. */
export const writingWays: Readonly<Record<string, (writer: Writer) => Promise<void>>> = {
  changes: walkChanges,
  'changes by a filter': walkMatching,
  deletions: walkDeletions,
  creations: walkCreations,
}
