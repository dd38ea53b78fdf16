import { readFileSync } from 'node:fs'
import test from 'ava'
import type { FilterOperator } from '#shared/core/types/field-kinds/field-kind.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import { type FieldType, fieldTypes } from '#shared/platform/kernel/field-type.ts'
import { hostileTexts } from '#test/api/fuzz/texts.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test)

const id = '01900000-0000-7000-8000-000000000000'
const rules: Partial<Record<FieldType, object>> = {
  select: { options: ['a', 'b'] },
  multiselect: { options: ['a', 'b'] },
  ref: { ref_type: 'things' },
  refs: { ref_type: 'things' },
}

/** A type with a field of every type, named like its type, and a query of its records. */
async function withThings(w: World) {
  const { owner, path } = w.org
  await owner.post(`${path}/types`, { key: 'things', label: 'Things' })
  for (const type of fieldTypes) {
    const field = { entity_type: 'things', key: `a_${type}`, label: type, type, ...(rules[type] && { rules: rules[type] }) }
    const made = await owner.post(`${path}/fields`, field)
    if (made.status !== 201) throw new Error(made.text)
  }
  await owner.post(`${path}/records/things`, { values: {} })
  return (filter: unknown) => owner.post(`${path}/records/things/query`, { filter })
}

// The contract's table, written down a second time.
const compared = ['gt', 'gte', 'lt', 'lte'] as const
const ofValues = ['in', 'not_in', 'empty', 'not_empty'] as const
const ofText = ['contains', 'eq', 'ne', 'not_contains', 'starts_with', ...ofValues] as const
const ofLists = ['has', 'has_any', 'empty', 'not_empty'] as const
const operators: Readonly<Record<FieldType, readonly FilterOperator[]>> = {
  string: ofText,
  text: ofText,
  email: ofText,
  url: ofText,
  number: ['eq', 'ne', ...compared, ...ofValues],
  currency: ['eq', 'ne', ...compared, ...ofValues],
  date: ['eq', 'ne', ...compared, ...ofValues],
  datetime: ['eq', 'ne', ...compared, ...ofValues],
  bool: ['eq', ...ofValues],
  select: ['contains', 'eq', 'ne', ...ofValues],
  multiselect: ofLists,
  refs: ofLists,
  ref: ['eq', ...ofValues],
  file: ofValues,
}
const all: readonly FilterOperator[] = [...new Set(Object.values(operators).flat())]

/** Values that the filter of a type takes up to its limit, and values one past it. */
const limits: Readonly<Record<FieldType, { readonly fit: readonly string[]; readonly past: readonly string[] }>> = {
  string: { fit: ['', 'x'.repeat(1_000)], past: ['a\0b', '\ud800'] },
  text: { fit: ['', 'x'.repeat(1_000)], past: ['a\0b', '\udfff'] },
  email: { fit: ['', 'x'.repeat(1_000)], past: ['a\0b'] },
  url: { fit: ['', 'x'.repeat(1_000)], past: ['a\0b'] },
  select: { fit: ['a', 'no option'], past: ['a\0b'] },
  multiselect: { fit: ['a', 'no option'], past: ['a\0b'] },
  file: { fit: ['a/b.pdf'], past: ['a\0b'] },
  number: {
    fit: ['0', '-99999999999999.999999', '99999999999999.999999'],
    past: ['', 'x', ' 1', '0x10', 'NaN', '٣', '1'.repeat(10_000)],
  },
  currency: { fit: ['0', '-99999999999999.999999', '99999999999999.999999'], past: ['', 'x', '1 EUR', 'Infinity'] },
  bool: { fit: ['true', 'false'], past: ['', 'TRUE', '1', 'yes'] },
  date: {
    fit: ['0001-01-01', '9999-12-31', '2024-02-29', '2024-02-29T23:59:59.999999Z'],
    past: ['', '0000-12-31', '10000-01-01', '2023-02-29', '2024-2-9', '2024-02-29T24:00:00Z'],
  },
  datetime: {
    fit: ['0001-01-01', '9999-12-31', '2024-02-29T23:59:60Z', '2024-02-29T00:00:00+01:00'],
    past: ['', '0000-12-31', '10000-01-01', '2023-02-29', '2024-02-29T00:00:00', '2024-02-29T24:00:00Z'],
  },
  ref: { fit: [id, id.toUpperCase()], past: ['', 'x', id.slice(1), `{${id}}`] },
  refs: { fit: [id, id.toUpperCase()], past: ['', 'x', id.slice(1), `{${id}}`] },
}

const isList = (op: FilterOperator) => op === 'in' || op === 'not_in' || op === 'has_any'
const isBare = (op: FilterOperator) => op === 'empty' || op === 'not_empty'
const conditionOn = (type: FieldType, op: FilterOperator, value: string) => ({
  field: `a_${type}`,
  op,
  ...(isBare(op) ? {} : { value: isList(op) ? [value] : value }),
})

test('filter limits: a field type takes the operators of the contract, and refuses every other by name', async (t) => {
  const query = await withThings(await shared())
  for (const type of fieldTypes) {
    t.deepEqual([...fieldKinds[type].filter.operators].toSorted(), [...operators[type]].toSorted(), type)
    const [value = ''] = limits[type].fit
    for (const op of all) {
      const { status, text } = await query(conditionOn(type, op, value))
      t.is(status, operators[type].includes(op) ? 200 : 400, `${type} ${op}: ${text}`)
      if (status === 400) t.true(text.includes(`filter.op must be one of ${fieldKinds[type].filter.operators.join(', ')} for`), text)
    }
  }
})

test('filter limits: each operator takes values up to the limit of its type, and names what is past it', async (t) => {
  const query = await withThings(await shared())
  for (const type of fieldTypes) {
    for (const op of operators[type].filter((one) => !isBare(one))) {
      for (const value of limits[type].fit) t.is((await query(conditionOn(type, op, value))).status, 200, `${type} ${op} ${value}`)
      for (const value of limits[type].past) {
        const { status, text } = await query(conditionOn(type, op, value))
        t.is(status, 400, `${type} ${op} ${value.slice(0, 50)}: ${text}`)
        t.regex(text, /filter/, `${type} ${op} ${value.slice(0, 50)}`)
      }
    }
  }
})

test('filter limits: a value has the form of its operator, and a list 1 to 200 texts', async (t) => {
  const query = await withThings(await shared())
  for (const type of fieldTypes) {
    const [value = ''] = limits[type].fit
    for (const op of operators[type]) {
      const send = async (sent: unknown) => (await query({ field: `a_${type}`, op, ...(sent === undefined ? {} : { value: sent }) })).status
      const wrong: readonly unknown[] = isBare(op)
        ? [value, null, [], [value]]
        : isList(op)
          ? [undefined, null, value, [], [1], [null], [[value]], Array(201).fill(value), { 0: value }]
          : [undefined, null, 1, true, [value], { value }]
      for (const sent of wrong) t.is(await send(sent), 400, `${type} ${op} ${JSON.stringify(sent)?.slice(0, 50)}`)
      if (isList(op)) t.is(await send(Array(200).fill(value)), 200, `${type} ${op} of 200`)
    }
  }
})

const patternFile = JSON.parse(readFileSync('test/fixtures/regex/redos-patterns.json', 'utf8')) as {
  readonly cases: readonly { readonly pattern: string }[]
}
const lines = ['xss-payloads', 'path-traversal', 'crlf-injection'].flatMap((name) =>
  readFileSync(`test/fixtures/strings/${name}.txt`, 'utf8').split('\n').filter(Boolean),
)
const patterns = patternFile.cases.map(({ pattern }) => pattern)

test('filter limits: no text of the fixtures, as a value or a name, makes an answer that is no 200 or 400', async (t) => {
  const query = await withThings(await shared())
  const texts = [...new Set([...hostileTexts, ...lines, ...patterns])]
  t.true(texts.length > 1_900, String(texts.length))
  // Each operator of each type meets all texts, in steps that a filter can hold.
  const conditions = fieldTypes.flatMap((type) =>
    operators[type].filter((op) => !isBare(op)).map((op) => (text: string) => conditionOn(type, op, text)),
  )
  for (const [index, text] of texts.entries()) {
    const make = conditions[index % conditions.length]
    for (const filter of [make?.(text), { field: 'a_string', op: 'contains', value: text }, { field: text, op: 'empty' }, { [text]: [] }]) {
      const { status } = await query(filter)
      t.true(status === 200 || status === 400, `${status} for ${JSON.stringify(filter)?.slice(0, 200)}`)
    }
  }
})
