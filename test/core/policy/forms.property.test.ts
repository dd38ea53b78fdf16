import test from 'ava'
import fc from 'fast-check'
import { compilePolicy, type RecordAccess } from '#shared/core/policy/evaluate.ts'
import { parsePolicy } from '#shared/core/policy/policy-rules.ts'
import { builder } from '#shared/platform/db/statements/builder.ts'
import { fieldsShown, mayDo, type NaiveRecord } from '#test/core/policy/naive.ts'
import { alike, caller, fields, reads, record, rule, typeKey, types } from '#test/core/policy/random.ts'
import { seed, seedOf } from '#test/core/policy/seed.ts'
import { type Things, thingsTable } from '#test/core/policy/things-table.ts'
import { times } from '#test/support/depth.ts'
import { shareInThread } from '#test/support/share-in-thread.ts'

const [rows, policies] = [200, times(100, 400)]

const open = shareInThread(test, async () => {
  const records: readonly NaiveRecord[] = fc.sample(record, { seed, numRuns: rows })
  const things = await thingsTable()
  await things.insert(records)
  return { value: { records, things }, close: things.drop }
})

const kindsOfRules = [
  ['a rule means', rule, 5],
  ['rules that differ in single values mean', alike, 12],
] as const

for (const [title, kind, most] of kindsOfRules) {
  test(`forms property: ${title} the same in memory, in SQL and in the contract`, async (t) => {
    const { records, things } = await open()
    let cases = 0
    let allowed = 0
    await fc.assert(
      fc.asyncProperty(fc.array(kind, { minLength: 1, maxLength: most }), caller, async (rules, principal) => {
        const sourced = parsePolicy(rules).map((one, index) => ({ ...one, role_id: 'role', index }))
        const policy = compilePolicy(sourced, { ...principal, owner: false } as Parameters<typeof compilePolicy>[1])
        const access = policy.recordAccess('records:read', typeKey, fields)
        const found = await rowsAndFields(things, access)
        for (const one of records) {
          const expected = mayDo(rules, 'records:read', principal, types, one)
          const shown = fieldsShown(rules, 'records:read', principal, types, one, reads)
          const inDatabase = found.get(one.id)
          if (access.test(one) !== expected) throw new Error(`in memory ${!expected} of ${JSON.stringify(one)}`)
          if (found.has(one.id) !== expected) throw new Error(`in SQL ${!expected} of ${JSON.stringify(one)}`)
          t.deepEqual([...access.visibleFields(one)].sort(), shown)
          if (inDatabase) t.deepEqual(inDatabase, shown)
          for (const { key } of fields) if (expected && !shown.includes(key)) t.true(access.hideable.has(key), `${key} is hideable`)
          cases += 1
          allowed += Number(expected)
        }
        if (access.verdict === 'all') t.is(found.size, rows)
        if (access.verdict === 'none') t.is(found.size, 0)
      }),
      { seed: seedOf(t), numRuns: policies },
    )
    t.log(`${cases} cases, ${allowed} allowed`)
    t.true(cases >= 10_000 && allowed > cases / 20 && allowed < (cases * 19) / 20)
  })
}

/** The ids that SQL allows, each with the fields that SQL shows of it. */
async function rowsAndFields(things: Things, access: RecordAccess): Promise<Map<string, string[]>> {
  const shown = fields.map(({ key }) => access.fieldWhere(key, 'row') ?? builder.raw('true'))
  const visibleThings = `select id, array[${shown.map(() => '?').join(', ')}] as shown from things as row where ?`
  const query = builder.raw(visibleThings, [...shown, access.where('row') ?? builder.raw('true')])
  const found = (await things.query(query)) as readonly { id: string; shown: readonly boolean[] }[]
  return new Map(found.map((row) => [row.id, fields.flatMap(({ key }, index) => (row.shown[index] ? [key] : [])).sort()]))
}
