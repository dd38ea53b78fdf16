import test from 'ava'
import { waysToGive } from '#test/core/roles/ways-to-give.ts'
import { type Caller, createMember, createOrg, createService } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const fresh = shareWorld(test)

const allow = (actions: string[], more: object = {}) => ({ effect: 'allow', actions, ...more })
const deny = (actions: string[], more: object = {}) => ({ effect: 'deny', actions, ...more })
const manage = allow(['iam:manage_groups', 'iam:manage_members'])
const testing = (field: string, more: object = {}) => ({ condition: { [`resource.${field}`]: { gt: 5_000 } }, ...more })
const staff = { resources: ['staff'] }

/** A workspace with a type of staff, whose salary is hidden from `giver` and whose bonus is computed of it. */
async function hired(): Promise<{ w: World; giver: Caller; robot: Caller }> {
  const world = await fresh()
  const w = { ...world, org: await createOrg(world) }
  const { path, owner } = w.org
  await owner.post(`${path}/types`, { key: 'staff', label: 'Staff' })
  for (const key of ['name', 'salary', 'bonus', 'points']) {
    const type = key === 'name' ? 'string' : 'number'
    const { data } = await owner.post(`${path}/fields`, { entity_type: 'staff', key, label: key, type })
    if (key === 'bonus') await owner.put(`${path}/fields/${data.id}/formula`, { formula: 'salary * 2' })
  }
  const rules = [manage, allow(['records:*']), allow(['records:read'], { ...staff, fields: { deny: ['salary', 'rank'] } })]
  return { w, giver: await createMember(w, w.org, rules), robot: await createService(w, w.org, rules) }
}

for (const [name, give] of Object.entries(waysToGive)) {
  test(`tested fields: ${name} tests no field that the giver does not read in every record`, async (t) => {
    const { w, giver, robot } = await hired()
    const hidden = { fields: { deny: ['salary', 'rank'] } }
    const more = [
      [allow(['records:delete'], testing('salary', staff))],
      [allow(['records:delete'], testing('bonus', staff))],
      [allow(['records:delete'], testing('rank', staff))],
      [allow(['records:delete'], testing('salary'))],
      [allow(['records:delete'], testing('bonus', { resources: '*' }))],
      [deny(['records:read'], testing('salary', staff))],
      [deny(['*'], testing('bonus'))],
      [allow(['records:read'], { ...testing('salary', staff), ...hidden })],
    ]
    const within = [
      [allow(['records:delete'], testing('points', staff))],
      [allow(['records:delete'], testing('salary', { resources: ['invoices'] }))],
      [deny(['records:read'], testing('points'))],
      [deny(['flows:read'], testing('salary'))],
      [allow(['records:delete'], { ...staff, condition: { 'resource.owner': { eq: 'principal.id' } } })],
    ]
    for (const caller of [giver, robot]) {
      for (const policy of more) t.is(await give(w, caller, policy), 403, JSON.stringify(policy))
      for (const policy of within) t.true((await give(w, caller, policy)) < 300, JSON.stringify(policy))
    }
    const owner: Caller = { id: w.org.ownerId, client: w.org.owner }
    for (const policy of more) t.true((await give(w, owner, policy)) < 300, JSON.stringify(policy))
  })
}

test('tested fields: a refusal names the rule, the field and the records', async (t) => {
  const { w, giver } = await hired()
  const { error } = (
    await giver.client.post(`${w.org.path}/iam/groups`, { name: 'R', policy: [deny(['records:read'], testing('salary', staff))] })
  ).body
  t.deepEqual(error.code, 'FORBIDDEN')
  t.is(error.message, 'policy[0] tests resource.salary, which you do not read in every record of staff')
})

test("tested fields: a condition of the giver's own may be given, but not on other records and not with a test of the caller", async (t) => {
  const { w } = await hired()
  const limited = (more: object) => allow(['records:read'], { ...staff, fields: { deny: ['salary'] }, ...testing('salary'), ...more })
  const ofService = { condition: { 'resource.salary': { gt: 1 }, 'principal.type': { eq: 'user' } } }
  const giver = await createMember(w, w.org, [manage, allow(['records:delete']), limited({}), limited(ofService)])
  const give = async (...policy: object[]) => (await giver.client.post(`${w.org.path}/iam/groups`, { name: 'R', policy })).status
  t.is(await give(limited({})), 201)
  t.is(await give(allow(['records:delete'], testing('salary', staff))), 201)
  t.is(await give(deny(['records:read'], testing('salary', staff))), 201)
  t.is(await give(allow(['records:delete'], testing('salary', { resources: ['invoices'] }))), 403)
  t.is(await give(allow(['records:delete'], testing('salary'))), 403)
  t.is(await give(allow(['records:delete'], { ...staff, condition: { 'resource.salary': { gt: 5_001 } } })), 403)
  t.is(await give(allow(['records:delete'], { ...staff, ...ofService })), 403)
})

test('tested fields: nobody lifts a limit of its own by deleting or computing what it tests', async (t) => {
  const { w } = await hired()
  const { path, owner } = w.org
  const idOf = async (key: string) =>
    (await owner.get(`${path}/fields?entity_type=staff`)).data.find((field: { key: string }) => field.key === key).id as string
  const designs = allow(['fields:create', 'fields:delete'])
  const region = { condition: { 'resource.name': { eq: 'EU' } } }
  const limited = [
    [designs, allow(['records:read'], { ...staff, ...region })],
    [designs, allow(['records:read'], staff), deny(['records:read'], { ...staff, ...region })],
    [designs, allow(['records:read'], staff), allow(['records:read'], { ...staff, ...region, fields: { deny: ['points'] } })],
    [designs, allow(['records:read'], staff), allow(['records:update'], region)],
  ]
  const at = `${path}/fields/${await idOf('name')}`
  for (const rules of limited) {
    const { client } = await createMember(w, w.org, rules)
    for (const refused of [await client.delete(at), await client.put(`${at}/formula`, { formula: '"EU"' })]) {
      t.is(refused.status, 403, JSON.stringify(rules))
      t.regex(refused.body.error.message, /^name is tested by policy\[[12]\] of your role \S+, which limits your records:\w+ on staff$/)
    }
  }
  const throughFormula = [designs, allow(['records:read'], { ...staff, condition: { 'resource.bonus': { gt: 1 } } })]
  const { client } = await createMember(w, w.org, throughFormula)
  t.is((await client.put(`${path}/fields/${await idOf('salary')}/formula`, { formula: '612' })).status, 403)
  t.is((await client.delete(`${path}/fields/${await idOf('bonus')}/formula`)).status, 403)
  t.is((await client.delete(`${path}/fields/${await idOf('points')}`)).status, 204, 'no rule tests it')

  const unlimited = await createMember(w, w.org, [designs, allow(['records:*']), allow(['records:read'], { ...staff, ...region })])
  t.is((await unlimited.client.put(`${at}/formula`, { formula: '"EU"' })).status, 200)
  t.is((await unlimited.client.delete(at)).status, 204)
})

test('tested fields: a field that a role tests is computed only from what its author reads in every record', async (t) => {
  const { w, giver } = await hired()
  const { path, owner } = w.org
  const rule = { ...staff, condition: { 'resource.rating': { eq: 1 } }, fields: { deny: ['salary', 'rank'] } }
  const policy = [allow(['records:read'], rule)]
  t.is((await giver.client.post(`${path}/iam/groups`, { name: 'Rated', policy })).status, 201, 'the field does not exist')
  const make = async (key: string) =>
    `${path}/fields/${(await owner.post(`${path}/fields`, { entity_type: 'staff', key, label: key, type: 'number' })).data.id}/formula`
  const [rating, base, other] = [await make('rating'), await make('base'), await make('other')]
  const blind = await createService(w, w.org, [allow(['fields:create'])])
  const refused = await blind.client.put(rating, { formula: 'IF(salary > 500, 1, 0)' })
  t.deepEqual(
    [refused.status, refused.body.error.message],
    [403, 'A role tests what rating changes, so its formula may read only fields that you read in every record of staff'],
  )
  t.is((await blind.client.put(other, { formula: 'salary' })).status, 200, 'no role tests it')
  t.is((await owner.put(rating, { formula: 'base + 0' })).status, 200)
  t.is((await blind.client.put(base, { formula: 'salary' })).status, 403, 'through another formula')
  t.is((await owner.put(base, { formula: 'salary' })).status, 200)
})
