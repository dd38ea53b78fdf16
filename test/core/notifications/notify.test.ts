import { randomUUID } from 'node:crypto'
import test from 'ava'
import { notify, sendNotice } from '#shared/core/notifications/notify.ts'
import { findPermissionHolders } from '#shared/core/roles/permission-holders.ts'
import { within } from '#shared/core/scope/scope.ts'
import { inboxOf } from '#test/core/notifications/make-rule.ts'
import { createMember, createRole, createService } from '#test/support/factories.ts'
import { assignRole } from '#test/support/rows.ts'
import { scopeOf } from '#test/support/scope.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const newWorkspace = shareWorld(test)

const allow = (...actions: string[]) => ({ effect: 'allow', actions })

test('notify: a notice reaches the given members once by its key, with or without a record', async (t) => {
  const w = await newWorkspace()
  const scope = await scopeOf(w, w.org)
  const [one, other] = [await createMember(w, w.org), await createMember(w, w.org)]
  const record = { type: 'payments', id: randomUUID() }
  const people = [one.id, randomUUID(), w.org.ownerId]
  const late = { title: 'Money came late', record, event: 'payment.late', key: 'late 1' }
  t.deepEqual(await Promise.all(Array.from({ length: 20 }, () => notify(scope, people, [late]))), Array(20).fill(2))
  t.is(await notify(scope, people, [{ title: 'x'.repeat(300), record: null, event: 'hint', key: 'hint' }]), 2)
  t.is(await notify(scope, [], [{ ...late, key: 'nobody' }]), 0)
  for (const client of [one.client, w.org.owner]) {
    const { notifications } = (await client.get(inboxOf(w))).data
    t.deepEqual(
      notifications.map(({ id: _, created_at: __, ...item }: Record<string, unknown>) => item),
      [
        { title: 'x'.repeat(200), object_type: null, record_id: null, event: 'hint', read: false },
        { title: 'Money came late', object_type: 'payments', record_id: record.id, event: 'payment.late', read: false },
      ],
    )
    t.is((await client.post(`${inboxOf(w)}/read/${notifications[0].id}`)).status, 204)
    t.is((await client.get(`${inboxOf(w)}/unread-count`)).data.count, 1)
  }
  t.is((await other.client.get(`${inboxOf(w)}/unread-count`)).data.count, 0)
})

test('notify: a notice of a rolled-back transaction reaches no member', async (t) => {
  const w = await newWorkspace()
  const scope = await scopeOf(w, w.org)
  const notice = { title: 'x', record: null, event: 'hint', key: 'rolled back' }
  await t.throwsAsync(
    scope.db.transaction(async (tx) => {
      await notify(within(scope, tx), [w.org.ownerId], [notice])
      throw new Error('no')
    }),
  )
  t.is((await w.org.owner.get(`${inboxOf(w)}/unread-count`)).data.count, 0)
  t.is(await notify(scope, [w.org.ownerId], [notice]), 1)
})

test('notify: the holders of a permission are the owner and the members whose roles allow it on everything', async (t) => {
  const w = await newWorkspace()
  const manage = allow('payments:manage')
  const holders = [
    await createMember(w, w.org, [manage]),
    await createMember(w, w.org, [allow('*')]),
    await createMember(w, w.org, [{ ...manage, condition: { 'principal.type': { eq: 'user' } } }]),
  ]
  await createMember(w, w.org)
  await createMember(w, w.org, [allow('payments:read', 'payments:collect')])
  await createMember(w, w.org, [{ ...manage, resources: ['x'] }])
  await createMember(w, w.org, [manage, { effect: 'deny', actions: ['payments:manage'] }])
  await createService(w, w.org, [manage])
  await createRole(w, w.org, [allow('*')], true)
  t.deepEqual(
    await findPermissionHolders(await scopeOf(w, w.org), 'payments:manage'),
    [w.org.ownerId, ...holders.map(({ id }) => id)].sort(),
  )
})

test('notify: action.notify reaches a member, the holders of a role or all members, once by its deduplication key', async (t) => {
  const w = await newWorkspace()
  const scope = await scopeOf(w, w.org)
  const member = await createMember(w, w.org)
  await createMember(w, w.org)
  const roleId = await createRole(w, w.org, [allow('records:read')])
  await assignRole(w.db, w.org.id, roleId, member.id)
  const record = { object_type: 'invoices', record_id: randomUUID() }
  const title = 'Look at this'
  t.deepEqual(await sendNotice(scope, { title }), { count: 3 })
  t.deepEqual(await sendNotice(scope, { title, user_id: w.org.ownerId }), { count: 1 })
  t.deepEqual(await sendNotice(scope, { title, role_id: roleId, ...record }), { count: 1 })
  t.deepEqual(await sendNotice(scope, { title, role_id: roleId, user_id: w.org.ownerId }), { count: 2 })
  for (let time = 0; time < 2; time++) {
    t.deepEqual(await sendNotice(scope, { title, user_id: member.id, role_id: null }, { deduplicationKey: 'run:node:0' }), { count: 1 })
  }
  const { notifications } = (await member.client.get(inboxOf(w))).data
  t.deepEqual(
    notifications.map(({ object_type, event }: Record<string, string>) => [object_type, event]),
    [
      [null, 'notice'],
      [null, 'notice'],
      ['invoices', 'notice'],
      [null, 'notice'],
    ],
  )
  const wrong: [object, string][] = [
    [{ user_id: randomUUID() }, 'user_id must be a member of the workspace'],
    [{ user_id: 'x' }, 'user_id must be an id'],
    [{ role_id: randomUUID() }, 'role_id must be a role of the workspace'],
    [{ record_id: randomUUID() }, 'object_type is required beside record_id'],
    [{ object_type: 'invoices' }, 'record_id is required beside object_type'],
    [
      { object_type: 'nothing', record_id: randomUUID() },
      'object_type must be the key of a record type, got "nothing"; POST …/types makes one',
    ],
  ]
  for (const [input, message] of wrong) await t.throwsAsync(sendNotice(scope, { title, ...input }), { message })
})
