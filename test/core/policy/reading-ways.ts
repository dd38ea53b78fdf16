import { Readable } from 'node:stream'
import type { ExecutionContext } from 'ava'
import { readCsv } from '#shared/core/records/csv/read.ts'
import { quoteInexactNumbers } from '#shared/platform/kernel/values/exact-numbers.ts'
import { type ExpectedAccess, exact, masked, type Seen } from '#test/core/policy/expected-access.ts'
import { small } from '#test/core/policy/naive.ts'
import { fields, typeKey } from '#test/core/policy/random.ts'
import type { Client } from '#test/support/client.ts'
import { eventually } from '#test/support/eventually.ts'
import type { Org } from '#test/support/factories.ts'
import type { Answer } from '#test/support/send-request.ts'

/** A caller that reads, all records, and what the contract says that it may see of them. */
export interface Reader {
  readonly t: ExecutionContext
  readonly org: Org
  readonly client: Client
  /** All records, newest first, as the owner sees them. */
  readonly all: readonly Seen[]
  readonly read: ExpectedAccess
  readonly export: ExpectedAccess
  /** A function that lists the records and gets each of the given ids. */
  readonly functionId: string
}

const records = ({ org }: Reader): string => `${org.path}/records/${typeKey}`
const readable = ({ all, read }: Reader): readonly Seen[] => all.filter(read.allows)
const views = (reader: Reader, of: readonly Seen[] = readable(reader)): Seen[] =>
  of.map((record) => masked(record, reader.read.shows(record)))
const idsOf = (list: readonly { readonly id: string }[]): string[] => list.map(({ id }) => id)

/** Compares the records of a response with the expected ones; a caller that may read none may get a refusal instead. */
function isSame({ t }: Reader, answer: Answer, expected: readonly Seen[], way: string): void {
  if (answer.status === 403 && expected.length === 0) return
  t.is(answer.status, 200, `${way}: ${answer.text}`)
  t.is(JSON.stringify(exact(answer)?.records), JSON.stringify(expected), way)
}

/** Every way by which a caller can read values of records. Each compares the result with what the caller may see. */
export const readingWays: Readonly<Record<string, (reader: Reader) => Promise<void>>> = {
  async 'one record'(reader) {
    const { t, all, client, read } = reader
    for (const record of all) {
      const answer = await client.get(`${records(reader)}/${record.id}`)
      const values = await client.get(`${records(reader)}/${record.id}/values`)
      if (!read.allows(record)) {
        t.true([403, 404].includes(answer.status) && values.status === answer.status, answer.text)
        if (readable(reader).length > 0) t.is(answer.status, 404)
        continue
      }
      const [view] = views(reader, [record])
      t.is(JSON.stringify(exact(answer)), JSON.stringify(view))
      t.is(JSON.stringify(exact(values)), JSON.stringify({ values: view?.values }))
    }
  },

  async 'a listing by cursor, every page but the last full'(reader) {
    const expected = views(reader)
    for (let start = 0, cursor = ''; ; start += 3) {
      const answer = await reader.client.get(`${records(reader)}?limit=3${cursor}`)
      isSame(reader, answer, expected.slice(start, start + 3), 'list')
      const next = answer.data?.next_cursor
      reader.t.is(next !== undefined, start + 3 < expected.length)
      if (next === undefined) return
      cursor = `&cursor=${encodeURIComponent(next)}`
    }
  },

  async 'a search and its total'(reader) {
    const answer = await reader.client.get(`${records(reader)}?page=1&limit=200`)
    isSame(reader, answer, views(reader), 'search')
    if (answer.status === 200) reader.t.is(answer.data.total, readable(reader).length)
  },

  async 'chosen fields'(reader) {
    for (const { key } of fields) {
      const answer = await reader.client.get(`${records(reader)}?fields=${key}`)
      const expected = views(reader).map((view) => masked(view, new Set([key])))
      if (answer.status === 400) reader.t.true(expected.every(({ values }) => !(key in values)))
      else isSame(reader, answer, expected, `fields=${key}`)
    }
  },

  async 'filters and orders'(reader) {
    for (const { key, type } of fields) {
      const value =
        { number: '1', currency: '1', bool: 'true', date: '2024-02-29', datetime: '2024-02-29', ref: ownRef }[type as string] ?? 'a'
      for (const query of [
        `filter=${encodeURIComponent(JSON.stringify([{ field: key, value }]))}`,
        `sort=${key}&dir=asc`,
        `ref_field=${key}&ref_id=${ownRef}`,
      ]) {
        await isSearchedBy(reader, key, query)
      }
    }
  },

  async 'text that is looked for'(reader) {
    for (const q of ['a', 'ß', '1', '2024', 'B_C', 'i']) {
      const finds = (record: Seen) =>
        fields.some(({ key, type }) => {
          const value = record.values[key]
          return (type === 'string' || type === 'text') && typeof value === 'string' && small(value).includes(small(q))
        })
      const expected = readable(reader).filter((record) => finds(masked(record, reader.read.shows(record))))
      const answer = await reader.client.get(`${records(reader)}?q=${encodeURIComponent(q)}&limit=200`)
      isSame(reader, answer, views(reader, expected), `q=${q}`)
    }
  },

  async 'an export, waited for and fetched'(reader) {
    const { t, client, org, all, read, export: exported } = reader
    const path = `${records(reader)}/export`
    const answer = await client.get(path)
    const rows = all.filter((record) => read.allows(record) && exported.allows(record))
    if (answer.status === 403) {
      t.is(rows.length, 0)
      return
    }
    const [theirs, ours] = [await tableOf(answer), await tableOf(await org.owner.get(path))]
    t.deepEqual([...theirs.keys()], idsOf(rows))
    for (const record of rows) {
      const shown = read.shows(record).intersection(exported.shows(record))
      const [cells, whole] = [theirs.get(record.id), ours.get(record.id)]
      for (const { key } of fields) t.is(cells?.get(key) ?? '', shown.has(key) ? (whole?.get(key) ?? '') : '', `${key} in an export`)
    }
    t.is((await jobOf(reader, await client.get(path, later), '/result')).text, answer.text)
  },

  async 'the audit of each record'(reader) {
    const { t, client, org, all, read } = reader
    for (const record of all) {
      const path = `${org.path}/audit?record_id=${record.id}`
      const [theirs, ours] = [await client.get(path), await org.owner.get(path)]
      const shown = read.shows(record)
      const cut = (values: Values) => values && Object.fromEntries(Object.entries(values).filter(([key]) => shown.has(key)))
      const whole: readonly Entry[] = read.allows(record) ? exact(ours).entries : []
      const expected = whole.map((entry) => ({ ...entry, before: cut(entry.before), after: cut(entry.after) }))
      t.is(JSON.stringify(exact(theirs)), JSON.stringify({ entries: expected, total: expected.length }))
    }
  },

  async 'the audit of records that are gone'(reader) {
    const { t, client, org, all, read } = reader
    const there = new Set(idsOf(all))
    const { data } = await client.get(`${org.path}/audit?object_type=${typeKey}&limit=200`)
    for (const { record_id, before, after } of data.entries as readonly Entry[]) {
      if (there.has(record_id)) continue
      t.true(read.isForAll, 'conditions cannot be tested on a deleted record')
      for (const key of Object.keys(before ?? after ?? {})) t.false(read.isDenied(key), key)
    }
  },

  async 'a function, waited for and as a job'(reader) {
    const { t, client, org, functionId, all } = reader
    const path = `${org.path}/functions/${functionId}/invoke`
    const input = { type: typeKey, ids: idsOf(all) }
    const { data } = await client.post(path, { input })
    // Numbers that JavaScript's numbers cannot hold reach a function, and leave it, as text with all digits.
    const expected = JSON.parse(quoteInexactNumbers(JSON.stringify(views(reader))))
    t.is(data.error, undefined)
    t.deepEqual(data.result.list, expected)
    t.deepEqual(data.result.found, expected)
    t.deepEqual((await jobOf(reader, await client.post(path, { input }, later))).data.result.result, data.result)
  },
}

type Values = Readonly<Record<string, unknown>> | null
interface Entry {
  readonly record_id: string
  readonly before: Values
  readonly after: Values
}

const ownRef = '018f0000-0000-7000-8000-0000000000a1'
const later = { prefer: 'respond-async' }

/** A search by a field: refused when a rule could hide the field; otherwise it returns the visible records that the owner finds. */
async function isSearchedBy(reader: Reader, key: string, query: string): Promise<void> {
  const { t, client, org, read } = reader
  const [theirs, ours] = await Promise.all([client, org.owner].map((one) => one.get(`${records(reader)}?limit=200&${query}`)))
  if (!theirs || !ours) return
  const isHidden = readable(reader).some((record) => !read.shows(record).has(key))
  if (ours.status === 400) t.true([400, 403].includes(theirs.status), query)
  else if (isHidden) t.true([400, 403].includes(theirs.status), `${query} names a hidden field: ${theirs.text}`)
  else if (theirs.status === 400) t.false(read.isOpen(key), `${query}: ${theirs.text}`)
  else {
    const found = new Map(readable(reader).map((record) => [record.id, record]))
    isSame(
      reader,
      theirs,
      views(
        reader,
        exact(ours).records.flatMap(({ id }: Seen) => found.get(id) ?? []),
      ),
      query,
    )
  }
}

/** The rows of a CSV file by the record's id, each with its cells by the name of the column. */
async function tableOf({ text }: Answer): Promise<Map<string, Map<string, string>>> {
  const table = new Map<string, Map<string, string>>()
  const file = await readCsv(Readable.from([Buffer.from(text)]))
  for await (const row of file.rows) {
    const cells = 'cells' in row ? row.cells : []
    table.set(cells[0] ?? '', new Map(file.header.map((name, index) => [name, cells[index] ?? ''])))
  }
  return table
}

/** The result of a call that was answered with a job. */
async function jobOf({ client, org }: Reader, { data }: Answer, part = ''): Promise<Answer> {
  const path = `${org.path}/jobs/${data.job_id}`
  const job = await eventually(async () => {
    const answer = await client.get(path)
    return answer.data.finished_at !== null && answer
  })
  return part === '' ? job : client.get(path + part)
}
