import test, { type ExecutionContext } from 'ava'
import { byHand, chain, createFlow, ended, outputsOf, runOf, runsOf, start } from '#test/features/flows/support.ts'
import { eventually } from '#test/support/eventually.ts'
import { createMember, createOrg, type Org } from '#test/support/factories.ts'
import { dropQueuedJobs } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { startWorkerProcess } from '#test/support/worker-process.ts'

const shared = shareWorld(test)
const withoutWorkers = shareWorld(test, {}, { pools: [] })

const flowRights = { effect: 'allow', actions: ['flows:read', 'flows:create', 'flows:update', 'flows:run'] }
const reads = (more: object = {}) => ({
  effect: 'allow',
  actions: ['records:read', 'records:create'],
  resources: ['staff', 'locations'],
  ...more,
})
const masked = [flowRights, reads({ fields: { deny: ['salary'] } })]

/** A workspace with a type whose bonus is computed from the salary; `replace` makes a plain bonus of the computed one. */
async function staff(t: ExecutionContext, org: Org) {
  await org.owner.post(`${org.path}/types`, { key: 'staff', label: 'Staff' })
  const createField = async (key: string): Promise<string> => {
    const made = await org.owner.post(`${org.path}/fields`, { entity_type: 'staff', key, label: key, type: 'number' })
    t.is(made.status, 201, made.text)
    return made.data.id
  }
  const [salary, bonus] = [await createField('salary'), await createField('bonus')]
  await org.owner.put(`${org.path}/fields/${bonus}/formula`, { formula: 'salary * 2' })
  return {
    replace: async () => {
      t.is((await org.owner.delete(`${org.path}/fields/${bonus}`)).status, 204)
      await createField('bonus')
    },
    deleteSalary: () => org.owner.delete(`${org.path}/fields/${salary}`),
  }
}

test('earlier fields: the output of a step hides the results of a computed field after a plain field got its key', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const { replace } = await staff(t, org)
  const member = await createMember(w, org, masked)
  const create = ['a', 'action.create_record', { object_type: 'staff', values: { salary: '100' } }] as const
  const flow = await createFlow(t, org, chain(byHand, create))
  const early = (await ended(org, flow.id, await start(t, org, flow.id))).id
  await replace()
  const late = (await ended(org, flow.id, await start(t, org, flow.id))).id
  const values = async (run: string, client = member.client) => outputsOf(await runOf(org, flow.id, run, client)).a.values
  t.deepEqual(await values(early), {})
  t.deepEqual(await values(late), { bonus: null })
  t.deepEqual(await values(early, org.owner), { salary: 100, bonus: 200 })
  const retried = await createMember(w, org, [flowRights, reads()])
  t.deepEqual(await values(early, retried.client), { salary: 100, bonus: 200 }, 'no rule of the caller hides a field')
})

test('earlier fields: what a run computed from its record is hidden after another field got the key of a hidden one', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const { replace, deleteSalary } = await staff(t, org)
  const [member, open] = [await createMember(w, org, masked), await createMember(w, org, [flowRights, reads()])]
  const filter = { list: '["{{trigger.record.bonus}}"]', clauses: [{ left: '{{item.none}}', op: 'is_empty' }] }
  const copy = ['c', 'action.create_record', { object_type: 'locations', values: { name: 'bonus {{trigger.record.bonus}}' } }] as const
  const body = chain(['t', 'trigger.record_event', { object_type: 'staff', event: 'created' }], ['f', 'logic.filter', filter], copy)
  const flow = await createFlow(t, org, { enabled: true, ...body })
  await org.owner.post(`${org.path}/records/staff`, { values: { salary: 100 } })
  await w.drain()
  await replace()
  t.is((await deleteSalary()).status, 204, 'the member now sees every field that there is')
  const [run] = await runsOf(org, flow.id)
  t.is(run.status, 'ok')
  const output = async (client = org.owner) => outputsOf(await runOf(org, flow.id, run.id, client)).f
  t.is(await output(member.client), undefined)
  for (const client of [org.owner, open.client]) t.deepEqual(await output(client), { items: ['200'], count: 1 })
  const rehearsed = await member.client.post(`${org.path}/flows/${flow.id}/rehearse`, {})
  t.is(rehearsed.status, 200, rehearsed.text)
  t.deepEqual(
    rehearsed.data.runs.map(({ created }: { created: { values: { name: string } }[] }) => created.map(({ values }) => values.name)),
    [['bonus ']],
    rehearsed.text,
  )
})

test('earlier fields: a flow gets no value of an earlier field from an event that waited', async (t) => {
  const w = await withoutWorkers()
  const org = await createOrg(w)
  const { replace } = await staff(t, org)
  const editor = await createMember(w, org, masked)
  for (const event of ['created', 'updated', 'deleted']) {
    const copied = { object_type: 'locations', values: { name: `${event}: {{trigger.record.bonus}}` } }
    const body = chain(['t', 'trigger.record_event', { object_type: 'staff', event }], ['c', 'action.create_record', copied])
    await createFlow(t, org, { enabled: true, ...body }, editor.client)
  }
  const { data } = await org.owner.post(`${org.path}/records/staff`, { values: { salary: 1 } })
  const record = `${org.path}/records/staff/${data.id}`
  t.is((await org.owner.put(`${record}/values`, { values: { salary: 100 } })).status, 204)
  t.is((await org.owner.delete(record)).status, 204)
  await replace()
  const worker = await startWorkerProcess(t, w, 'flows')
  const names = async (): Promise<string[]> => {
    const { records } = (await org.owner.get(`${org.path}/records/locations`)).data
    return records.map(({ values }: { values: { name: string } }) => values.name)
  }
  await eventually(async () => (await names()).length === 3, 120_000)
  t.deepEqual((await names()).toSorted(), ['created: ', 'deleted: ', 'updated: '])
  await worker.kill('SIGKILL')
  await dropQueuedJobs(w.db)
})
