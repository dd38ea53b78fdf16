import { exact, masked, type Seen } from '#test/core/policy/expected-access.ts'
import { fields, typeKey } from '#test/core/policy/random.ts'
import type { Reader } from '#test/core/policy/reading-ways.ts'

const records = ({ org }: Reader): string => `${org.path}/records/${typeKey}`
const readable = ({ all, read }: Reader): readonly Seen[] => all.filter(read.allows)
const views = (reader: Reader, of: readonly Seen[]): Seen[] => of.map((record) => masked(record, reader.read.shows(record)))

/** Whether the caller must be refused, must not be, or may be, when it names these fields. */
function naming(reader: Reader, keys: readonly string[]): 'refused' | 'accepted' | 'either' {
  const { read } = reader
  if (keys.some((key) => readable(reader).some((record) => !read.shows(record).has(key)))) return 'refused'
  return readable(reader).length > 0 && keys.every((key) => read.isOpen(key)) ? 'accepted' : 'either'
}

/** Checks a status against `naming`. Returns whether there is an answer to compare. */
function isAnswered(reader: Reader, keys: readonly string[], { status, text }: { status: number; text: string }, way: string): boolean {
  const { t } = reader
  const expected = naming(reader, keys)
  t.true([200, 400, 403].includes(status), `${way}: ${text}`)
  if (expected === 'refused') t.not(status, 200, `${way} names a hidden field: ${text}`)
  if (expected === 'accepted') t.is(status, 200, `${way}: ${text}`)
  return status === 200
}

/** The record that a field names, as the caller may see it; undefined for none. */
const targetOf = (reader: Reader, id: unknown): Seen | undefined => readable(reader).find((record) => record.id === id)

/** Every way by which a caller asks for records by their values, or for values of several. Each is compared with what it may see. */
export const askingWays: Readonly<Record<string, (reader: Reader) => Promise<void>>> = {
  async 'nested filters, in an address and in a body'(reader) {
    const { t, client, org } = reader
    for (const { key } of fields) {
      for (const filter of [{ not: { not: { any: [{ field: key, op: 'empty' }] } } }, [{ not: { field: key, op: 'not_empty' } }]]) {
        const list = (one: typeof client) => one.get(`${records(reader)}?limit=200&filter=${encodeURIComponent(JSON.stringify(filter))}`)
        const [theirs, ours, asked] = await Promise.all([
          list(client),
          list(org.owner),
          client.post(`${records(reader)}/query`, { limit: 200, filter }),
        ])
        t.deepEqual([asked.status, asked.data], [theirs.status, theirs.data])
        if (!isAnswered(reader, [key], theirs, JSON.stringify(filter))) continue
        const found = new Set(exact(ours).records.map(({ id }: Seen) => id))
        const expected = readable(reader).filter(({ id }) => found.has(id))
        t.is(JSON.stringify(exact(theirs).records), JSON.stringify(views(reader, expected)), JSON.stringify(filter))
      }
    }
  },

  async 'a step along a reference'(reader) {
    const { t, client, org, all } = reader
    const exists = (id: unknown) => all.some((record) => record.id === id)
    for (const { key } of fields) {
      for (const op of ['empty', 'not_empty']) {
        const filter = encodeURIComponent(JSON.stringify({ field: `a_ref.${key}`, op }))
        const [theirs, ours] = await Promise.all([client, org.owner].map((one) => one.get(`${records(reader)}?limit=200&filter=${filter}`)))
        if (!theirs || !ours || !isAnswered(reader, ['a_ref', key], theirs, `a_ref.${key} ${op}`)) continue
        const found = new Set(exact(ours).records.map(({ id }: Seen) => id))
        // A record that the caller may not read meets no condition.
        const expected = readable(reader).filter(
          ({ id, values }) => found.has(id) && (!exists(values.a_ref) || targetOf(reader, values.a_ref) !== undefined),
        )
        t.is(JSON.stringify(exact(theirs).records), JSON.stringify(views(reader, expected)), `a_ref.${key} ${op}`)
      }
    }
  },

  async 'expanded references'(reader) {
    const { t, client, read } = reader
    const answer = await client.get(`${records(reader)}?limit=200&expand=a_ref.a_ref,a_refs`)
    if (answer.status === 403 && readable(reader).length === 0) return
    t.is(answer.status, 200, answer.text)
    const seen = (record: Seen | undefined, steps: number): object | null => {
      if (!record) return null
      const view = masked(record, read.shows(record))
      const { a_ref, a_refs } = view.values
      if (steps === 0) return view
      const next = { a_ref: seen(targetOf(reader, a_ref), steps - 1) }
      const several = Array.isArray(a_refs) ? a_refs.flatMap((id) => seen(targetOf(reader, id), 0) ?? []) : a_refs === null ? [] : null
      return { ...view, expanded: steps === 2 ? { ...next, a_refs: several } : next }
    }
    const expected = readable(reader).map((record) => seen(record, 2))
    t.is(JSON.stringify(exact(answer).records), JSON.stringify(expected))
    const [first] = readable(reader)
    if (!first) return
    const one = await client.get(`${records(reader)}/${first.id}?expand=a_ref.a_ref,a_refs`)
    t.is(JSON.stringify(exact(one)), JSON.stringify(expected[0]))
  },

  async 'aggregates by group'(reader) {
    const { t, client } = reader
    for (const { key, type } of fields) {
      if (['currency', 'multiselect', 'refs'].includes(type)) continue
      const answer = await client.get(`${records(reader)}/aggregate?metrics=count,distinct:${key}&group_by=${key}&limit=1000`)
      if (!isAnswered(reader, [key], answer, `group_by=${key}`)) continue
      const expected = new Map<string, number>()
      for (const { values } of readable(reader)) {
        const value = JSON.stringify(values[key])
        expected.set(value, (expected.get(value) ?? 0) + 1)
      }
      const groups = exact(answer).groups.map(
        ({ by, metrics }: { by: Record<string, unknown>; metrics: Record<string, unknown> }) => [JSON.stringify(by[key]), metrics] as const,
      )
      t.is(exact(answer).total_groups, readable(reader).length === 0 ? 0 : expected.size)
      for (const [value, metrics] of groups)
        t.deepEqual(metrics, { count: expected.get(value), [`distinct:${key}`]: value === 'null' ? 0 : 1 }, `${key} ${value}`)
    }
  },
}
