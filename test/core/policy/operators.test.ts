import test from 'ava'
import { type Attributes, compilePolicy, type RecordAccess } from '#shared/core/policy/evaluate.ts'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'
import { builder } from '#shared/platform/db/statements/builder.ts'
import { mayDo, type NaiveRecord } from '#test/core/policy/naive.ts'
import { fields, ids, operands, otherTested, typeKey, types, valuesOf } from '#test/core/policy/random.ts'
import { seed } from '#test/core/policy/seed.ts'
import { thingsTable } from '#test/core/policy/things-table.ts'
import { times } from '#test/support/depth.ts'
import { shareInThread } from '#test/support/share-in-thread.ts'

const caller = { id: ids[0] ?? null, type: 'user', owner: false } as const

const open = shareInThread(test, async () => {
  const things = await thingsTable()
  await things.insert(records)
  return { value: things, close: things.drop }
})

/** Records that together hold every value of every field, and one that holds none. */
const records: readonly NaiveRecord[] = Array.from(
  { length: Math.max(...Object.values(valuesOf).map((all) => all.length)) + 1 },
  (_, index) => ({
    id: `018f0000-0000-7000-8000-${String(index).padStart(12, '0')}`,
    object_type: typeKey,
    created_by: index === 0 ? null : (ids[index % ids.length] ?? null),
    created_at: String(valuesOf.datetime[index % valuesOf.datetime.length]),
    values:
      index === 0 ? {} : Object.fromEntries(fields.map(({ key, type }) => [key, valuesOf[type][index % valuesOf[type].length] ?? null])),
  }),
)

/** A run compares one of so many operands; the seed chooses which. */
const oneOf = times(4, 1)
const compared = operands.filter((_, index) => index % oneOf === seed % oneOf)
const texts = compared.filter((operand) => typeof operand === 'string')
const count = times(10, 40)
const lists = Array.from({ length: count }, (_, start) => operands.filter((_operand, index) => index % count === start || index === start))

const tests: readonly Readonly<Record<string, unknown>>[] = [
  ...['eq', 'ne', 'gt', 'gte', 'lt', 'lte'].flatMap((operator) => compared.map((operand) => ({ [operator]: operand }))),
  ...['in', 'nin'].flatMap((operator) => [[], ...lists].map((operand) => ({ [operator]: operand }))),
  ...texts.map((operand) => ({ contains: operand })),
]

for (const tested of [...fields.map(({ key }) => `resource.${key}`), ...otherTested]) {
  test(`operators: ${tested} gives the same result for every operator and operand in memory, in SQL and in the contract`, async (t) => {
    const policies = rulesAbout(tested)
    const accesses = policies.map((rules) => compiled(rules).recordAccess('records:read', typeKey, fields))
    const inDatabase = await answersOf(accesses)
    for (const [index, access] of accesses.entries()) {
      const rules = policies[index] ?? []
      const expected = records.map((record) => mayDo(rules, 'records:read', caller, types, record))
      t.deepEqual(records.map(access.test), expected, `in memory: ${JSON.stringify(rules)}`)
      t.deepEqual(inDatabase[index], expected, `in SQL: ${JSON.stringify(rules)}`)
    }
    t.log(`seed ${seed}: ${policies.length * records.length} cases`)
  })
}

test('operators: attributes of simulate mean the same as a record with those values', (t) => {
  for (const { key } of fields) {
    for (const rules of rulesAbout(`resource.${key}`)) {
      const policy = compiled(rules)
      const access = policy.recordAccess('records:read', typeKey, fields)
      for (const record of records) {
        const { allowed } = policy.decide('records:read', typeKey, record.values as Attributes, fields)
        if (allowed !== access.test(record)) t.fail(JSON.stringify([rules, record.values[key]]))
      }
    }
  }
  t.pass()
})

/** An allow rule shows whether a test passes, and a deny rule whether it fails; sides that cannot be compared do neither. */
const rulesAbout = (tested: string): PolicyRule[][] =>
  tests.flatMap((one) => {
    const allow: PolicyRule = { effect: 'allow', actions: ['*'] }
    const condition = { [tested]: one }
    return [[{ ...allow, condition }], [allow, { ...allow, effect: 'deny', condition }]]
  })

const compiled = (rules: readonly PolicyRule[]) =>
  compilePolicy(
    rules.map((rule, index) => ({ ...rule, role_id: 'role', index })),
    caller,
  )

/** For each access, the records that SQL permits. */
async function answersOf(accesses: readonly RecordAccess[]): Promise<boolean[][]> {
  const answers: boolean[][] = []
  for (let start = 0; start < accesses.length; start += 200) {
    const conditions = accesses.slice(start, start + 200).map((access) => access.where('row') ?? builder.raw('true'))
    const passesOfThings = `select array[${conditions.map(() => '(?) is true').join(', ')}] as passes from things as row order by id`
    const rows = (await (await open()).query(builder.raw(passesOfThings, conditions))) as readonly { passes: readonly boolean[] }[]
    answers.push(...conditions.map((_, index) => rows.map(({ passes }) => passes[index] === true)))
  }
  return answers
}
