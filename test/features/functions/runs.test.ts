import test from 'ava'
import { ageRun } from '#test/features/functions/rows.ts'
import { allow, createFunction, handlerOf, invoke } from '#test/features/functions/support.ts'
import { createMember } from '#test/support/factories.ts'
import { runMaintenanceTask } from '#test/support/maintenance.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const fresh = shareWorld(test)

test('runs: runs are listed with their steps and output, newest first, in pages', async (t) => {
  const { org } = await fresh()
  const { id } = await createFunction(
    t,
    org,
    handlerOf("console.info('n', input); if (input === 2) throw new Error('two'); await sdk.crypto.uuid(); return 'é'.repeat(input)"),
  )
  for (const number of [1, 2, 3]) await invoke(t, org, id, number)
  const all = `${org.path}/functions/${id}/runs`
  const { data } = await org.owner.get(all)
  t.is(data.next_cursor, null)
  t.deepEqual(
    data.runs.map(({ ending, result_bytes, error }: Record<string, unknown>) => [ending, result_bytes, error]),
    [
      ['returned', 8, undefined],
      ['threw', 4, 'two'],
      ['returned', 4, undefined],
    ],
  )
  t.like(data.runs[0], { function_id: id, version: 1, parent_id: null, actor_id: org.ownerId, actor_type: 'user' })
  const one = await org.owner.get(`${all}/${data.runs[1].id}`)
  t.deepEqual(one.data, { ...data.runs[1], logs: [{ level: 'info', msg: 'n 2' }], steps: [] })
  t.deepEqual((await org.owner.get(`${all}/${data.runs[0].id}`)).data.steps, [{ method: 'crypto.uuid', is_error: false }])

  const first = (await org.owner.get(`${all}?limit=2`)).data
  const second = (await org.owner.get(`${all}?limit=2&cursor=${first.next_cursor}`)).data
  t.deepEqual([...first.runs, ...second.runs], data.runs)
  t.is(second.next_cursor, null)
  for (const bad of ['limit=0', 'limit=201', 'cursor=x']) t.is((await org.owner.get(`${all}?${bad}`)).status, 400)
  const other = await createFunction(t, org, handlerOf(''))
  t.is((await org.owner.get(`${org.path}/functions/${other.id}/runs?cursor=${first.next_cursor}`)).status, 400)
  t.is((await org.owner.get(`${org.path}/functions/${other.id}/runs/${data.runs[0].id}`)).status, 404)
  t.is((await org.owner.get(`${all}/x`)).status, 404)
})

test('runs: a run that another run invokes is stored with it', async (t) => {
  const { org } = await fresh()
  const inner = await createFunction(t, org, handlerOf('return 1'))
  const outer = await createFunction(t, org, handlerOf(`return sdk.functions.invoke('${inner.id}')`))
  await invoke(t, org, outer.id)
  const [run] = (await org.owner.get(`${org.path}/functions/${outer.id}/runs`)).data.runs
  t.like((await org.owner.get(`${org.path}/functions/${inner.id}/runs`)).data.runs, [{ parent_id: run.id, actor_id: org.ownerId }])
})

test('runs: output and errors of a run are shown to its caller and to editors of the function', async (t) => {
  const w = await fresh()
  const { org } = w
  const caller = await createMember(w, org, [allow('functions:invoke', 'functions:read')])
  const reader = await createMember(w, org, [allow('functions:read')])
  const editor = await createMember(w, org, [allow('functions:read', 'functions:create')])
  const { id } = await createFunction(t, org, handlerOf("console.log('salary'); throw new Error('salary')"))
  await invoke(t, org, id, null, caller.client)
  const all = `${org.path}/functions/${id}/runs`
  for (const [client, sees] of [
    [caller.client, true],
    [reader.client, false],
    [editor.client, true],
  ] as const) {
    const listed = await client.get(all)
    const one = await client.get(`${all}/${listed.data.runs[0].id}`)
    t.is(one.data.ending, 'threw')
    t.is('logs' in one.data && 'error' in one.data && 'error' in listed.data.runs[0], sees)
    t.is((listed.text + one.text).includes('salary'), sees)
  }
})

test('runs: runs are kept 30 days', async (t) => {
  const w = await fresh()
  const { id } = await createFunction(t, w.org, handlerOf(''))
  await invoke(t, w.org, id)
  await invoke(t, w.org, id)
  const all = `${w.org.path}/functions/${id}/runs`
  const day = 24 * 60
  const [kept, old] = (await w.org.owner.get(all)).data.runs
  await ageRun(w.db, old.id, 30 * day + 1)
  await ageRun(w.db, kept.id, 30 * day - 60)
  await runMaintenanceTask(w, 'sweep_function_runs')
  t.deepEqual(
    (await w.org.owner.get(all)).data.runs.map((run: { id: string }) => run.id),
    [kept.id],
  )
})
