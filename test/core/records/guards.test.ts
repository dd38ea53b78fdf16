import test, { type ExecutionContext } from 'ava'
import type { GuardedChange, RecordGuard } from '#shared/core/scope/record-guard.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { guards } from '#shared/features.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { countAuditEntries } from '#test/core/records/rows.ts'
import { createFunction, handlerOf, invoke } from '#test/features/functions/support.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const asked: GuardedChange[] = []

/** Refuses deletions of a location named `kept` and changes of its time zone. */
const guard: RecordGuard<Scope> = {
  type: 'locations',
  fields: ['timezone'],
  check: async ({ db }, change) => {
    if (!('inTransaction' in db)) throw new Error('asked outside the transaction')
    asked.push(change)
    if (change.before.name === 'kept') throw problem('VALIDATION_ERROR', 'it is kept')
  },
}

const registered = guards as Map<string, RecordGuard<Scope>[]>
const usual = guards.get('locations')
const shared = shareWorld(test)

/** A workspace, with the guard in place of the usual ones until the test ends. */
async function guarded(t: ExecutionContext): Promise<World> {
  registered.set('locations', [guard])
  t.teardown(() => {
    if (usual) registered.set('locations', [...usual])
    else registered.delete('locations')
  })
  return shared()
}

const make = async (w: World, name: string) =>
  (await w.org.owner.post(`${w.org.path}/records/locations`, { values: { name } })).data.id as string
const refused = { code: 'VALIDATION_ERROR', message: 'it is kept' }

test('guards: a refused change is refused by every route and SDK method and has no effect', async (t) => {
  const w = await guarded(t)
  const { owner, path } = w.org
  const id = await make(w, 'kept')
  const record = `${path}/records/locations/${id}`
  const before = (await owner.get(record)).data
  const change = await owner.put(`${record}/values`, { values: { timezone: 'Europe/Berlin', address: 'Rhine' } })
  t.is(change.status, 400)
  t.like(change.body.error, refused)
  t.like((await owner.delete(record)).body.error, refused)
  const batch = await owner.post(`${path}/records/locations/batch`, {
    operations: [
      { op: 'delete', id },
      { op: 'update', id, values: { timezone: 'UTC' } },
      { op: 'update', id, values: { address: 'Main' } },
    ],
  })
  t.deepEqual(
    batch.data.results.map(({ status }: { status: number }) => status),
    [400, 400, 200],
  )
  const fn = await createFunction(
    t,
    w.org,
    handlerOf(`
      const failed = (call) => call.then(() => null, ({ code, message }) => ({ code, message }))
      return [await failed(sdk.records.delete('locations', input)),
        await failed(sdk.records.update('locations', input, { timezone: 'UTC' }))]`),
  )
  t.deepEqual((await invoke(t, w.org, fn.id, id)).result, [refused, refused])
  const after = (await owner.get(record)).data
  t.deepEqual(after.values, { ...before.values, address: 'Main' })
  t.is(await countAuditEntries(w.db, w.org.id, { recordId: id }), 2)
})

test('guards: a guard receives changes of its own fields and deletions, with the values before and after', async (t) => {
  const w = await guarded(t)
  const { owner, path } = w.org
  const id = await make(w, 'free')
  const record = `${path}/records/locations/${id}`
  asked.length = 0
  await owner.put(`${record}/values`, { values: { address: 'Elbe', timezone: null } })
  t.is(asked.length, 0)
  await owner.put(`${record}/values`, { values: { timezone: 'UTC' } })
  await owner.delete(record)
  t.like(asked, [
    { id, before: { timezone: null, address: 'Elbe' }, after: { timezone: 'UTC', address: 'Elbe' } },
    { id, before: { timezone: 'UTC' }, after: null },
  ])
  t.is(asked.length, 2)
})

test('guards: a caller that may not change a record does not see the message of its guard', async (t) => {
  const w = await guarded(t)
  asked.length = 0
  const id = await make(w, 'kept')
  t.is((await w.visitor.delete(`${w.org.path}/records/locations/${id}`)).status, 401)
  t.is(asked.length, 0)
})
