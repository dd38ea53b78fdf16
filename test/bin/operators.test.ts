import { userInfo } from 'node:os'
import test from 'ava'
import { callKontor } from '#test/bin/call.ts'
import { followLog } from '#test/core/operators/rows.ts'
import { createAccount } from '#test/support/account.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const fresh = shareWorld(test, async () => ({ TRUST_PROXY: '1' }))

test('operators: commands add, change, list and remove one, and each change is an entry of the log', async (t) => {
  const w = await fresh()
  const readLog = await followLog(w.db)
  const { id, client } = await createAccount(w, 'Otto@example.com', 'Otto Operator')
  const statusOf = async (method: string, path: string) => (await client.send(method, path)).status
  const suspend = `/v1/operator/workspaces/${w.org.id}/suspend`
  const add = async (...more: string[]) => (await callKontor(w, 'operator', 'add', 'otto@example.com', ...more, '--json')).json
  t.is(await statusOf('GET', '/v1/operator/log'), 403)
  t.deepEqual(await add('--read-only'), { id, address: 'Otto@example.com', read_only: true, changed: true })
  t.deepEqual([await statusOf('GET', '/v1/operator/log'), await statusOf('POST', suspend)], [200, 403])
  t.false((await add('--read-only')).changed)
  t.true((await add()).changed)
  t.false((await add()).changed)
  t.is(await statusOf('POST', suspend), 200)
  const { json } = await callKontor(w, 'operator', 'list', '--json')
  t.like(json, { operators: [{ id, address: 'Otto@example.com', name: 'Otto Operator', read_only: false }] })
  t.is(json.operators.length, 1)
  t.regex((await callKontor(w, 'operator', 'list')).out, /Otto@example\.com +Otto Operator +may act/)
  t.deepEqual((await callKontor(w, 'operator', 'remove', id, '--json')).json, { id, address: 'Otto@example.com' })
  t.is(await statusOf('GET', '/v1/operator/log'), 403)
  const command = { operator_id: null, operator: `command line (${userInfo().username})`, count: 1 }
  const person = { user: id, address: 'Otto@example.com' }
  t.deepEqual(await readLog(), [
    { ...command, action: 'operators.add', subject: { ...person, read_only: true } },
    { ...command, action: 'operators.add', subject: { ...person, read_only: false } },
    {
      operator_id: id,
      operator: 'Otto@example.com',
      action: 'workspaces.suspend',
      subject: { workspace: w.org.id, name: 'Acme' },
      count: 1,
    },
    { ...command, action: 'operators.remove', subject: person },
  ])
})

test('operators: commands refuse who has no account, and who is no operator', async (t) => {
  const w = await fresh()
  const readLog = await followLog(w.db)
  const { email } = await createAccount(w)
  const nobody = await callKontor(w, 'operator', 'add', 'nobody@example.com')
  t.is(nobody.code, 1)
  t.regex(nobody.err, /^Nobody has the address or id nobody@example.com: make an account with kontor user create/)
  const other = await callKontor(w, 'operator', 'remove', email, '--json')
  t.deepEqual([other.code, other.json.error], [1, { code: 'NOT_FOUND', message: `${email} is no operator` }])
  t.deepEqual(await readLog(), [])
})

test('operators: commands that act on workspaces write into the log, and a new workspace makes nobody an operator', async (t) => {
  const w = await fresh()
  const readLog = await followLog(w.db)
  const { email } = await createAccount(w)
  const { id } = (await callKontor(w, 'org', 'create', 'Northwind', email, '--json')).json
  t.deepEqual((await callKontor(w, 'operator', 'list', '--json')).json, { operators: [] })
  for (const args of [
    ['suspend', id],
    ['resume', 'Northwind'],
    ['plan', id, 'free'],
    ['delete', id, 'Northwind', '--yes'],
  ])
    t.is((await callKontor(w, 'org', ...args)).code, 0, args.join(' '))
  await w.drain()
  const about = { workspace: id, name: 'Northwind' }
  t.deepEqual(
    (await readLog()).map(({ action, subject }) => [action, subject]),
    [
      ['workspaces.suspend', about],
      ['workspaces.resume', about],
      ['workspaces.plan', { ...about, plan: 'free', plan_before: 'paid' }],
      ['workspaces.delete', about],
    ],
  )
})
