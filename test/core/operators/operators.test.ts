import test from 'ava'
import { deletePerson, dropOperator, followLog, meddleWithLog, putWorkspace, readStatus, refuseEntries } from '#test/core/operators/rows.ts'
import { lockRows } from '#test/support/locks.ts'
import { createOperator } from '#test/support/operators.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const fresh = shareWorld(test)

test('operators: each action on a workspace is one entry of the log, and one that does not fit its state is 400 without an entry', async (t) => {
  const w = await fresh()
  const readLog = await followLog(w.db)
  const { id: operator, client } = await createOperator(w)
  const at = `/v1/operator/workspaces/${w.org.id}`
  const seen = []
  for (const [action, body] of [
    ['suspend'],
    ['suspend'],
    ['resume'],
    ['resume'],
    ['plan', { plan: 'free' }],
    ['plan', { plan: 'free' }],
  ] as const) {
    const { status, data, body: answered } = await client.post(`${at}/${action}`, body)
    seen.push(status === 200 ? [data.status, data.plan] : [status, answered.error.code, answered.error.message])
  }
  t.deepEqual(seen, [
    ['suspended', 'paid'],
    [400, 'VALIDATION_ERROR', 'The workspace Acme is suspended already'],
    ['active', 'paid'],
    [400, 'VALIDATION_ERROR', 'The workspace Acme is not suspended'],
    ['active', 'free'],
    [400, 'VALIDATION_ERROR', 'The workspace Acme has the plan free already'],
  ])
  t.is((await w.org.owner.get(w.org.path)).data.plan, 'free')
  const common = { operator_id: operator, operator: `${operator}@example.com`, count: 1 }
  const about = { workspace: w.org.id, name: 'Acme' }
  t.deepEqual(await readLog(), [
    { ...common, action: 'workspaces.suspend', subject: about },
    { ...common, action: 'workspaces.resume', subject: about },
    { ...common, action: 'workspaces.plan', subject: { ...about, plan: 'free', plan_before: 'paid' } },
  ])
})

test('operators: a suspended workspace refuses its callers at once, and works on when it is resumed', async (t) => {
  const w = await fresh()
  const { client } = await createOperator(w)
  const codeOf = async () => (await w.org.owner.get(w.org.path)).body.error?.code
  await client.post(`/v1/operator/workspaces/${w.org.id}/suspend`)
  t.is(await codeOf(), 'ORG_SUSPENDED')
  await client.post(`/v1/operator/workspaces/${w.org.id.toUpperCase()}/resume`)
  t.is(await codeOf(), undefined)
})

test('operators: a workspace that is being set up or deleted is neither suspended nor resumed, and a deleted one keeps its plan', async (t) => {
  const w = await fresh()
  const readLog = await followLog(w.db)
  const { client } = await createOperator(w)
  for (const [state, words] of [
    ['provisioning', 'is provisioning'],
    ['deleting', 'is being deleted'],
  ] as const) {
    await putWorkspace(w.db, w.org.id, state)
    for (const action of ['suspend', 'resume']) {
      const { status, body } = await client.post(`/v1/operator/workspaces/${w.org.id}/${action}`)
      t.deepEqual([status, body.error.code], [400, 'VALIDATION_ERROR'])
      t.true(body.error.message.includes(words), body.error.message)
    }
  }
  t.is((await client.post(`/v1/operator/workspaces/${w.org.id}/plan`, { plan: 'free' })).status, 400)
  await putWorkspace(w.db, w.org.id, 'active')
  t.deepEqual(await readLog(), [])
})

test('operators: an action whose entry cannot be written is not done', async (t) => {
  const w = await fresh()
  const readLog = await followLog(w.db)
  const { client } = await createOperator(w)
  const { accept } = await refuseEntries(w.db)
  t.is((await client.post(`/v1/operator/workspaces/${w.org.id}/suspend`)).status, 500)
  await accept()
  t.deepEqual([await readStatus(w.db, w.org.id), await readLog()], ['active', []])
})

test('operators: what has begun when its operator is removed is not committed', async (t) => {
  const w = await fresh()
  const readLog = await followLog(w.db)
  const { id, client } = await createOperator(w)
  const removal = await lockRows(t, w.db, 'operators', 'user_id = $1', [id])
  await dropOperator(removal, id)
  const pending = client.post(`/v1/operator/workspaces/${w.org.id}/suspend`)
  await removal.waitedFor()
  await removal.release()
  const { status, body } = await pending
  t.deepEqual([status, body.error.code], [403, 'FORBIDDEN'])
  t.deepEqual([await readStatus(w.db, w.org.id), await readLog()], ['active', []])
})

test('operators: a person who is removed is refused at the next request', async (t) => {
  const w = await fresh()
  const { id, client } = await createOperator(w)
  const statusOf = async () => (await client.get('/v1/operator/log')).status
  t.is(await statusOf(), 200)
  await dropOperator(w.db, id)
  t.is(await statusOf(), 403)
})

test('operators: the log never changes, whoever leaves', async (t) => {
  const w = await fresh()
  const { id, client } = await createOperator(w)
  await client.post(`/v1/operator/workspaces/${w.org.id}/suspend`)
  for (const statement of ['update', 'delete', 'truncate'] as const)
    await t.throwsAsync(meddleWithLog(w.db, statement), { message: 'operator_log only grows' })
  await deletePerson(w.db, id)
  const { data } = await (await createOperator(w)).client.get('/v1/operator/log')
  t.like(data, { entries: [{ operator_id: id, operator: `${id}@example.com`, action: 'workspaces.suspend' }], next_cursor: null })
})
