import test from 'ava'
import { type BuiltinDeclaration, type BuiltinField, builtinDeclaration } from '#shared/core/types/builtin/builtin-types.ts'
import { listPendingUpgrades } from '#shared/core/types/builtin/pending-upgrades.ts'
import { upgradeWorkspace, upgradeWorkspaces } from '#shared/core/types/builtin/upgrade.ts'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import { callKontor } from '#test/bin/call.ts'
import { makeFieldCustom, readBuiltinVersions, renameTable } from '#test/core/types/rows.ts'
import { createOrg, type Org } from '#test/support/factories.ts'
import { type World, world } from '#test/support/world.ts'

/** A later release's declaration: further fields of locations, and a type. */
const later = (version: number, fields: readonly BuiltinField[]): BuiltinDeclaration => ({
  version,
  types: [
    ...builtinDeclaration.types.map((type) => (type.key === 'locations' ? { ...type, fields: [...type.fields, ...fields] } : type)),
    { key: 'shipments', label: 'Shipments', icon: 'truck', fields: [{ key: 'code', label: 'Code', type: 'string', unique: true }] },
  ],
})

const region: BuiltinField = { key: 'region', label: 'Region', type: 'select', required: true, rules: { options: ['north', 'south'] } }
const level: BuiltinField = { key: 'level', label: 'Level', type: 'number' }
const place: BuiltinField = { key: 'place', label: 'Place', type: 'string', unique: true }

const open = async (t: { teardown: (end: () => unknown) => void }) => {
  const w = await world({}, ['data'])
  t.teardown(w.close)
  return w
}

const addField = async ({ org: { owner, path } }: Pick<World, 'org'>, field: object) => {
  const { status, text, data } = await owner.post(`${path}/fields`, { entity_type: 'locations', label: 'Mine', ...field })
  if (status !== 201) throw new Error(text)
  return data
}
const fieldsOf = async ({ owner, path }: Org, type = 'locations') => {
  const { data } = await owner.get(`${path}/fields?entity_type=${type}`)
  return new Map<string, Record<string, unknown>>(data.map((field: { key: string }) => [field.key, field]))
}
const upgrade = (w: World, declared: BuiltinDeclaration, signal = new AbortController().signal) =>
  upgradeWorkspaces({ ...servicesOf(w), log: w.api.services.log }, signal, declared)
const servicesOf = ({ api: { services } }: World) => ({ db: services.database, jobQueue: services.jobQueue })

test('upgrade: the built-in types match the contract', (t) => {
  const shown = Object.fromEntries(
    builtinDeclaration.types.map(({ key, fields }) => [
      key,
      fields.map((field) =>
        [field.key, field.type, ...(field.required ? ['required'] : []), ...(field.unique ? ['unique'] : [])].join(' '),
      ),
    ]),
  )
  t.deepEqual(shown, {
    accounts: ['code string required unique', 'name string required', 'kind select', 'currency string', 'description text'],
    invoices: [
      ...['number string unique', 'customer_name string', 'customer_email email', 'issue_date date', 'due_date date'],
      ...['status select', 'total currency', 'notes text'],
    ],
    payments: [
      ...['amount currency', 'invoice_id ref', 'paid_at datetime', 'provider string', 'reference string', 'link_id string'],
      ...['payer_name string', 'payer_email email'],
    ],
    locations: ['name string required', 'address text', 'timezone string'],
  })
})

test('upgrade: an existing workspace gets new types and fields once, and its records stay', async (t) => {
  const w = await open(t)
  const orgs = [w.org, await createOrg(w), await createOrg(w)]
  const { owner, path } = w.org
  const { id } = (await owner.post(`${path}/records/locations`, { values: { name: 'Here' } })).data
  const declared = later(2, [region, level, place])
  await Promise.all([upgrade(w, declared), upgrade(w, declared)])
  await upgrade(w, declared)
  for (const org of orgs) {
    const fields = await fieldsOf(org)
    t.deepEqual([...fields.keys()], ['name', 'address', 'timezone', 'region', 'level', 'place'])
    t.like(fields.get('region'), { type: 'select', required: true, system: true, rules: { options: ['north', 'south'] } })
    t.deepEqual([...(await fieldsOf(org, 'shipments')).keys()], ['code'])
  }
  t.like((await owner.get(`${path}/records/locations/${id}`)).data.values, { name: 'Here', region: null, place: null })
  t.is((await owner.post(`${path}/records/locations`, { values: { name: 'There' } })).status, 400)
  t.is((await owner.post(`${path}/records/locations`, { values: { name: 'There', region: 'south', place: 'a' } })).status, 201)
  t.is((await owner.post(`${path}/records/locations`, { values: { name: 'Both', region: 'south', place: 'a' } })).status, 409)
  t.is((await owner.delete(`${path}/types/shipments`)).status, 403)
  t.is((await owner.post(`${path}/records/shipments`, { values: { code: '1' } })).status, 201)
  t.deepEqual(await listPendingUpgrades(w.api.services.database, declared), [])
})

test('upgrade: a custom field of the same type is adopted with its values and rules', async (t) => {
  const w = await open(t)
  const { owner, path } = w.org
  const own = await addField(w, { key: 'region', type: 'select', rules: { options: ['west', 'north'], default: 'west' } })
  await addField(w, { key: 'place', type: 'string' })
  const { id } = (await owner.post(`${path}/records/locations`, { values: { name: 'Here', place: 'a' } })).data
  await upgrade(w, later(2, [region, place]))
  const fields = await fieldsOf(w.org)
  t.like(fields.get('region'), {
    id: own.id,
    label: 'Mine',
    system: true,
    required: true,
    rules: { options: ['north', 'south', 'west'], default: 'west' },
  })
  t.like((await owner.get(`${path}/records/locations/${id}`)).data.values, { region: 'west', place: 'a' })
  t.is((await owner.post(`${path}/records/locations`, { values: { name: 'Both', place: 'a' } })).status, 409, 'it has become unique')
  t.is((await owner.delete(`${path}/fields/${own.id}`)).status, 404)
})

test("upgrade: a field that cannot be adopted stays the workspace's own and is listed", async (t) => {
  const w = await open(t)
  const { owner, path } = w.org
  await addField(w, { key: 'level', type: 'string' })
  await addField(w, { key: 'place', type: 'string' })
  const mark = await addField(w, { key: 'mark', type: 'string' })
  t.is((await owner.put(`${path}/fields/${mark.id}/formula`, { formula: 'IF(name=region, "yes", "no")' })).status, 200)
  await w.drain()
  await owner.post(`${path}/types`, { key: 'shipments', label: 'Mine' })
  for (const name of ['one', 'two']) await owner.post(`${path}/records/locations`, { values: { name, place: 'same' } })
  const declared = later(2, [region, level, place])
  const waiting = await listPendingUpgrades(w.api.services.database, declared)
  t.deepEqual(new Set(waiting.map(({ state }) => state)), new Set(['waiting']))
  await upgrade(w, declared)
  const left = await listPendingUpgrades(w.api.services.database, declared)
  t.deepEqual(
    left.map(({ type, field, state }) => [type, field, state]),
    [
      ['locations', 'level', 'kept'],
      ['locations', 'place', 'kept'],
      ['locations', 'region', 'kept'],
      ['shipments', null, 'kept'],
    ],
  )
  t.regex(left[0]?.why ?? '', /of type string, not number/)
  const fields = await fieldsOf(w.org)
  for (const key of ['level', 'place']) t.is(fields.get(key)?.system, false)
  t.is((await owner.delete(`${path}/types/shipments`)).status, 204)
})

test('upgrade: a workspace that fails does not delay others and is upgraded the next time', async (t) => {
  const w = await open(t)
  const other = await createOrg(w)
  const [broken = '', whole = ''] = [w.org.id, other.id].sort()
  const schema = schemaOf(broken)
  await renameTable(w.db, `${schema}.locations`, 'elsewhere')
  const declared = later(2, [level])
  await upgrade(w, declared)
  t.deepEqual(await readBuiltinVersions(w.db), { [broken]: 1, [whole]: 2 })
  await renameTable(w.db, `${schema}.elsewhere`, 'locations')
  const stopped = AbortSignal.abort()
  await upgrade(w, declared, stopped)
  t.is((await readBuiltinVersions(w.db))[broken], 1)
  await upgrade(w, declared)
  t.deepEqual(await readBuiltinVersions(w.db), { [broken]: 2, [whole]: 2 })
  await upgradeWorkspace(servicesOf(w), broken, declared)
})

test('upgrade: the operator lists what is left', async (t) => {
  const w = await open(t)
  t.is((await callKontor(w, 'upgrades')).out, 'Every workspace has all built-in types and fields.\n')
  await makeFieldCustom(w.db, w.org.id, 'timezone')
  const { json, code } = await callKontor(w, 'upgrades', '--json')
  t.is(code, 0)
  t.like(json.upgrades[0], { workspace_id: w.org.id, type: 'locations', field: 'timezone', state: 'kept' })
  t.regex((await callKontor(w, 'upgrades')).out, new RegExp(`^${w.org.id}  locations\\.timezone  kept  `))
})
