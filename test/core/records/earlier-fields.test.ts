import test from 'ava'
import { recomputeAfter } from '#shared/core/records/compute/recompute.ts'
import { within } from '#shared/core/scope/scope.ts'
import { requireRecordType } from '#shared/core/types/record-type.ts'
import { causedBy } from '#shared/platform/kernel/cause.ts'
import { forgetRevisions } from '#test/core/records/rows.ts'
import { createMember, createOrg } from '#test/support/factories.ts'
import { scopeOf } from '#test/support/scope.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

type Values = Record<string, unknown>

interface Entry {
  readonly action: string
  readonly before: Values | null
  readonly after: Values | null
}

/** A workspace with a type, and its audit as a member sees it whose rules hide the salary, and as one whose rules hide nothing. */
async function staff() {
  const w = await shared()
  const org = await createOrg(w)
  const rules = (more: object) => [
    { effect: 'allow', actions: ['audit:read'] },
    { effect: 'allow', actions: ['records:read'], ...more },
  ]
  const masked = await createMember(w, org, rules({ resources: ['staff'], fields: { deny: ['salary'] } }))
  const open = await createMember(w, org, rules({ resources: ['staff'] }))
  const createType = () => org.owner.post(`${org.path}/types`, { key: 'staff', label: 'Staff' })
  const createField = async (key: string, more: object = {}): Promise<string> => {
    const { data } = await org.owner.post(`${org.path}/fields`, { entity_type: 'staff', key, label: key, type: 'number', ...more })
    return data.id
  }
  const setFormula = (id: string, formula: string) => org.owner.put(`${org.path}/fields/${id}/formula`, { formula })
  const seenBy = async ({ client }: { client: typeof org.owner }): Promise<Entry[]> => {
    const { data } = await client.get(`${org.path}/audit?object_type=staff`)
    return data.entries.map(({ action, before, after }: Entry) => ({ action: action.slice('record.'.length), before, after })).toReversed()
  }
  await createType()
  const salary = await createField('salary')
  const record = async (values: object) => {
    const { data } = await org.owner.post(`${org.path}/records/staff`, { values })
    const path = `${org.path}/records/staff/${data.id}`
    return { path, change: (next: object) => org.owner.put(`${path}/values`, { values: next }) }
  }
  return { w, org, masked, open, owner: { client: org.owner }, createType, createField, setFormula, seenBy, record, salary }
}

test('earlier fields: the audit hides the results of a computed field after a plain field got its key', async (t) => {
  const { org, masked, open, owner, createField, setFormula, seenBy, record } = await staff()
  const bonus = await createField('bonus')
  await setFormula(bonus, 'salary * 2')
  const { change } = await record({ salary: 100 })
  t.is((await org.owner.delete(`${org.path}/fields/${bonus}`)).status, 204)
  const whole = [{ action: 'created', before: null, after: { salary: 100, bonus: 200 } }]
  t.deepEqual(await seenBy(masked), [{ action: 'created', before: null, after: {} }], 'the field is gone')
  await createField('bonus')
  await change({ bonus: 7 })
  await change({ bonus: 8 })
  t.deepEqual(await seenBy(masked), [
    { action: 'created', before: null, after: {} },
    { action: 'updated', before: { bonus: null }, after: { bonus: 7 } },
    { action: 'updated', before: { bonus: 7 }, after: { bonus: 8 } },
  ])
  for (const caller of [open, owner]) t.deepEqual((await seenBy(caller)).slice(0, 1), whole)
})

test('earlier fields: the audit hides values of a deleted type from a caller of a type with the same keys', async (t) => {
  const { org, masked, open, createType, createField, seenBy, record } = await staff()
  await createField('grade')
  await record({ salary: 1, grade: 5 })
  t.is((await org.owner.delete(`${org.path}/types/staff`)).status, 204)
  await createType()
  await createField('grade')
  await record({ grade: 6 })
  t.deepEqual(
    (await seenBy(masked)).map(({ after }) => after),
    [{}, { grade: 6 }],
  )
  t.deepEqual(
    (await seenBy(open)).map(({ after }) => after),
    [{ salary: 1, grade: 5 }, { grade: 6 }],
  )
})

test('earlier fields: the audit hides results of a formula that read a hidden field, after the formula has changed', async (t) => {
  const { w, masked, open, createField, setFormula, seenBy, record } = await staff()
  const [bonus, total] = [await createField('bonus'), await createField('total')]
  await createField('hours')
  await setFormula(bonus, 'salary * 2')
  await setFormula(total, 'bonus + hours')
  const { change } = await record({ salary: 100, hours: 1 })
  t.is((await setFormula(bonus, 'hours * 2')).status, 200)
  await w.drain()
  await change({ hours: 3 })
  const [created, recomputed, updated] = await seenBy(masked)
  t.deepEqual(created?.after, { hours: 1 }, 'bonus and total were computed from the salary')
  t.deepEqual(recomputed, { action: 'updated', before: {}, after: {} }, 'the recompute replaced results of the salary')
  t.deepEqual(
    [updated?.before, updated?.after],
    [
      { hours: 1, bonus: 2, total: 3 },
      { hours: 3, bonus: 6, total: 9 },
    ],
  )
  const [first, second] = await seenBy(open)
  t.deepEqual(first?.after, { salary: 100, hours: 1, bonus: 200, total: 201 })
  t.deepEqual(
    [second?.before, second?.after],
    [
      { bonus: 200, total: 201 },
      { bonus: 2, total: 3 },
    ],
  )
})

test('earlier fields: while a recompute runs, the audit hides the results that it replaces', async (t) => {
  const { w, org, masked, createField, setFormula, seenBy, record } = await staff()
  const bonus = await createField('bonus')
  await createField('hours')
  await setFormula(bonus, 'salary * 2')
  await record({ salary: 100, hours: 1 })
  await setFormula(bonus, 'hours * 2')
  const scope = await scopeOf(w, org)
  const type = await requireRecordType(scope, 'staff')
  const caused = { ...scope, cause: causedBy(scope.cause, 'recompute', org.id) }
  await scope.db.transaction((tx) => recomputeAfter(within(caused, tx), type, '', 'all'))
  t.deepEqual((await seenBy(masked)).at(-1), { action: 'updated', before: {}, after: {} })
  await w.drain()
  t.deepEqual((await seenBy(masked)).at(-1), { action: 'updated', before: {}, after: {} })
})

test('earlier fields: a formula that reads the same fields and more leaves the audit of its field visible', async (t) => {
  const { w, masked, createField, setFormula, seenBy, record } = await staff()
  const double = await createField('double')
  await createField('hours')
  await setFormula(double, 'hours * 2')
  await record({ hours: 4 })
  await setFormula(double, 'hours + hours')
  await w.drain()
  t.deepEqual((await seenBy(masked))[0]?.after, { hours: 4, double: 8 })
})

test('earlier fields: the audit hides results of a formula that was removed', async (t) => {
  const { org, masked, open, createField, setFormula, seenBy, record } = await staff()
  const [bonus, copy] = [await createField('bonus'), await createField('copy')]
  await setFormula(bonus, 'salary * 2')
  await setFormula(copy, 'bonus + 0')
  const { change } = await record({ salary: 100 })
  t.is((await org.owner.delete(`${org.path}/fields/${bonus}/formula`)).status, 204)
  await change({ bonus: 7 })
  const [created, updated] = await seenBy(masked)
  t.deepEqual(created?.after, {})
  t.deepEqual(updated?.after, { bonus: 7, copy: 7 })
  t.deepEqual((await seenBy(open))[0]?.after, { salary: 100, bonus: 200, copy: 200 })
})

test('earlier fields: a field whose results were discarded counts as a new one, although its formula read no field', async (t) => {
  const { w, org, masked, open, createField, setFormula, seenBy, record } = await staff()
  const grade = await createField('grade')
  await setFormula(grade, '5')
  const { path } = await record({ salary: 100 })
  const designer = await createMember(w, org, [{ effect: 'allow', actions: ['fields:create'] }])
  t.is((await designer.client.delete(`${org.path}/fields/${grade}/formula`)).status, 204)
  t.is((await org.owner.get(path)).data.values.grade, null)
  t.deepEqual((await seenBy(masked))[0]?.after, {})
  t.deepEqual((await seenBy(open))[0]?.after, { salary: 100, grade: 5 })
})

test('earlier fields: an entry of an earlier release counts for the field that is older than the entry', async (t) => {
  const { w, org, masked, owner, createField, seenBy, record } = await staff()
  const grade = await createField('grade')
  await createField('hours')
  await record({ grade: 5, hours: 1 })
  await forgetRevisions(w.db, org.id)
  t.deepEqual((await seenBy(masked))[0]?.after, { grade: 5, hours: 1 })
  t.is((await org.owner.delete(`${org.path}/fields/${grade}`)).status, 204)
  await createField('grade')
  await forgetRevisions(w.db, org.id, { isUpgraded: true })
  t.deepEqual((await seenBy(masked))[0]?.after, { hours: 1 })
  t.deepEqual((await seenBy(owner))[0]?.after, { grade: 5, hours: 1 })
})
