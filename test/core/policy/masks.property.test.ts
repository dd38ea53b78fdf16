import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'
import { askingWays } from '#test/core/policy/asking-ways.ts'
import { exact, expectedAccess, type Seen } from '#test/core/policy/expected-access.ts'
import { record, typeKey } from '#test/core/policy/random.ts'
import { readingWays } from '#test/core/policy/reading-ways.ts'
import { assignCreator } from '#test/core/policy/rows.ts'
import { seedOf } from '#test/core/policy/seed.ts'
import { makeRecord, makeType, onRecords } from '#test/core/policy/things.ts'
import { type Writer, writingWays } from '#test/core/policy/writing-ways.ts'
import { createFunction } from '#test/features/functions/support.ts'
import { times } from '#test/support/depth.ts'
import { type Caller, createMember, createRole, createService } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test)

const [rounds, records, policies] = [2, 12, times(5, 15)]

const absent = '018f0000-0000-7000-8000-0000000000ff'

/** Has every other record name the next one, and the one after it besides an id that no record has. */
async function linkRecords({ org: { owner, path } }: World): Promise<void> {
  const { records: made } = (await owner.get(`${path}/records/${typeKey}`)).data as { records: readonly Seen[] }
  for (const [index, { id }] of made.entries()) {
    if (index % 2 === 1) continue
    const [next, after] = [1, 2].map((more) => made[(index + more) % made.length]?.id)
    await owner.put(`${path}/records/${typeKey}/${id}/values`, { values: { a_ref: next, a_refs: [after, absent, next] } })
  }
}

const look = `async function handler({ type, ids }) {
  const page = await sdk.records.list(type, { limit: 200 }).catch(() => ({ records: [] }))
  const found = []
  for (const id of ids) found.push(...(await sdk.records.get(type, id).then((one) => [one], () => [])))
  return { list: page.records, found }
}`

/** A person or service account that holds these rules in two roles, beside the other permissions that the ways need. */
async function makeCaller(w: World, type: 'user' | 'service', rules: readonly PolicyRule[]): Promise<Caller> {
  const others = { effect: 'allow', actions: ['audit:read', 'functions:invoke'] }
  const made = await { user: createMember, service: createService }[type](w, w.org, [...rules.slice(1), others])
  const role = await createRole(w, w.org, rules.slice(0, 1))
  await w.org.owner.post(`${w.org.path}/iam/groups/${role}/members`, { user_id: made.id })
  return made
}

async function walk(t: ExecutionContext, w: World, functionId: string, type: 'user' | 'service', rules: readonly PolicyRule[]) {
  const { org } = w
  const { id, client } = await makeCaller(w, type, rules)
  // Some records are the caller's own.
  await assignCreator(w.db, org.id, typeKey, id)
  const all: Seen[] = exact(await org.owner.get(`${org.path}/records/${typeKey}`)).records
  const caller = { id, type }
  const accessTo = (action: string) => expectedAccess(rules, `records:${action}`, caller)
  const read = accessTo('read')
  const rights = { read, export: accessTo('export'), create: accessTo('create'), update: accessTo('update'), delete: accessTo('delete') }
  const writer: Writer = { t, org, client, callerId: id, all, functionId, ...rights }
  for (const [way, go] of Object.entries({ ...readingWays, ...askingWays, ...writingWays })) {
    try {
      await go(writer)
    } catch (error) {
      throw new Error(`${way}, rules ${JSON.stringify(rules)}: ${(error as Error).message}`, { cause: error })
    }
  }
  return all.filter(read.allows).length
}

for (let round = 1; round <= rounds; round++) {
  test(`masks property: every way to read or write shows exactly what the contract says, round ${round}`, async (t) => {
    const w = await shared()
    const seed = seedOf(t) + round
    await makeType(w)
    for (const { values } of fc.sample(record, { seed, numRuns: records })) await makeRecord(w, values)
    await linkRecords(w)
    const { id } = await createFunction(t, w.org, look)
    let seen = 0
    const callers = fc.constantFrom('user' as const, 'service' as const)
    const property = fc.asyncProperty(callers, fc.array(onRecords, { minLength: 1, maxLength: 5 }), async (type, rules) => {
      seen += await walk(t, w, id, type, rules)
    })
    // Random policies alone may all hide every record.
    const examples: [Parameters<typeof makeCaller>[1], PolicyRule[]][] = [['user', [{ effect: 'allow', actions: ['records:*'] }]]]
    await fc.assert(property, { seed, numRuns: policies + 1, endOnFailure: true, examples })
    t.log(`${policies} policies over ${records} records, ${seen} readable`)
    t.true(seen >= records)
  })
}
