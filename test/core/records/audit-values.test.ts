import test from 'ava'
import fc from 'fast-check'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import { type FieldType, fieldTypes } from '#shared/platform/kernel/field-type.ts'
import { parseStoredJson } from '#shared/platform/kernel/values/json.ts'
import { seedOf } from '#test/core/policy/seed.ts'
import { readRow } from '#test/core/records/rows.ts'
import { times } from '#test/support/depth.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test)

const options = ['new', ' won ', 'a|b', '[x', '"', '\\', '{}', 'null', '😀', 'é', 'e\u0301', '\u2028']

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }).map((value) => value.replaceAll('\0', '')),
  fc.constantFrom('', ' ', '\t', '\u0001', '\u007f', '\u2028', '\ufeffx', 'e\u0301', '"\\"', '\\u0000', '__proto__', '{"$of":0}', '1e3'),
)

/** Decimals as a request may hold them, with more digits than a double has. */
const decimal = fc
  .tuple(fc.constantFrom('', '-'), fc.bigInt({ min: 0n, max: 99_999_999_999_999n }), fc.integer({ min: 0, max: 999_999 }))
  .map(([sign, whole, part]) => JSON.rawJSON(`${sign}${whole}.${String(part).padStart(6, '0')}`))
const amount = fc.oneof(decimal, fc.constantFrom(0, -0, 1e3, '12.50', '-0.000001'))

const year = fc.oneof(fc.integer({ min: 1, max: 9_999 }), fc.constantFrom(1, 1_969, 9_999))
const day = fc
  .tuple(year, fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 28 }))
  .map(([y, m, d]) => `${String(y).padStart(4, '0')}-${String(m).padStart(2, '0')}-${String(d).padStart(2, '0')}`)
const clock = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }), fc.integer({ min: 0, max: 999_999 }))
  .map(([h, m, micros]) => `${String(h).padStart(2, '0')}:${String(m).padStart(2, '0')}:07.${String(micros).padStart(6, '0')}`)
// The first and last days of all years may leave them in another zone.
const zone = fc.constantFrom('Z', '+05:30', '-11:00')
const middle = day.filter((value) => !value.startsWith('0001-01') && !value.startsWith('9999-12'))

/** Values of each field type as callers send them, without null. */
const values: Readonly<Record<FieldType, fc.Arbitrary<unknown>>> = {
  string: text,
  text: fc.oneof(text, fc.constant('x\n'.repeat(500))),
  number: amount,
  bool: fc.boolean(),
  date: day,
  datetime: fc.oneof(
    fc.tuple(middle, clock, zone).map(([date, time, offset]) => `${date}T${time}${offset}`),
    fc.constantFrom('0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999999Z', '2016-12-31T23:59:60Z'),
  ),
  currency: fc.oneof(amount, fc.record({ amount, code: fc.constantFrom('EUR', 'JPY', 'BHD') })),
  select: fc.constantFrom(...options),
  multiselect: fc.shuffledSubarray(options),
  email: fc.constantFrom('a@example.com', "o'neil+x@example.com", 'A@EXAMPLE.com'),
  url: fc.constantFrom('https://example.com', 'HTTP://EXAMPLE.com/%7e?q=%22#ü', "https://example.com/a'b"),
  file: text.filter((value) => value !== ''),
  ref: fc.uuid().map((id) => id.toUpperCase()),
  refs: fc.array(fc.uuid(), { maxLength: 4 }).chain((ids) => fc.constant([...ids, ...ids.slice(0, 1)])),
}

type Sent = Readonly<Record<string, unknown>>

const keyOf = (type: FieldType): string => `a_${type}`
/** The fields by key; one has the key of an inherited property. */
const fields: readonly (readonly [key: string, type: FieldType])[] = [
  ...fieldTypes.map((type) => [keyOf(type), type] as const),
  ['constructor', 'string'],
]
const sentValues: fc.Arbitrary<Sent> = fc.record(
  Object.fromEntries(fields.map(([key, type]) => [key, fc.option(values[type], { freq: 6 })])),
)

/** A type with these fields. */
async function makeThings({ org: { owner, path } }: World): Promise<string> {
  await owner.post(`${path}/types`, { key: 'things', label: 'Things' })
  const rules: Partial<Record<FieldType, object>> = {
    select: { options },
    multiselect: { options },
    ref: { ref_type: 'things' },
    refs: { ref_type: 'things' },
  }
  for (const [key, type] of fields) {
    const made = await owner.post(`${path}/fields`, { entity_type: 'things', key, label: key, type, rules: rules[type] ?? {} })
    if (made.status !== 201) throw new Error(made.text)
  }
  return `${path}/records/things`
}

interface Entry {
  readonly before: Sent | null
  readonly after: Sent | null
  readonly record: unknown
}

test('audit values: what an entry holds of each field type, sent back, restores what was stored', async (t) => {
  const w = await shared()
  const records = await makeThings(w)
  const { owner, path } = w.org
  const stored = (id: string) => readRow(w.db, `${schemaOf(w.org.id)}.things`, id)
  /** The newest entry, its numbers exact. */
  const newest = async (id: string): Promise<Entry> => {
    const answer = await owner.get(`${path}/audit?record_id=${id}&limit=1`)
    return (parseStoredJson(answer.text) as { data: { entries: [Entry] } }).data.entries[0]
  }
  const put = async (id: string, sent: Sent | null) => {
    const answer = await owner.put(`${records}/${id}/values`, { values: sent })
    t.is(answer.status, 204, answer.text)
    return stored(id)
  }
  const seed = seedOf(t)
  const runs = fc.asyncProperty(sentValues, sentValues, async (one, other) => {
    const { id } = (await owner.post(records, { values: {} })).data
    const first = await put(id, one)
    const second = await put(id, other)
    if (second !== first) {
      const { before, after } = await newest(id)
      t.is(await put(id, before), first)
      t.is(await put(id, after), second)
    }
    const last = (await owner.get(`${records}/${id}`)).data
    t.is((await owner.delete(`${records}/${id}`)).status, 204)
    const deleted = await newest(id)
    const { created_by, created_at, updated_at } = last
    t.deepEqual({ ...(deleted.record as object) }, { created_by, created_at, updated_at })
    const again = await owner.post(records, { values: deleted.before })
    t.is(again.status, 201, again.text)
    t.is(await stored(again.data.id), second)
  })
  await fc.assert(runs, { numRuns: times(60, 400), seed, endOnFailure: true })
})
