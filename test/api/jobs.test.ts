import test from 'ava'
import { setUpWorkspace } from '#shared/workspaces/jobs.ts'
import { createMember } from '#test/support/factories.ts'
import { world } from '#test/support/world.ts'

const cause = (actorId: string | null) => ({ actorId, actorType: 'user', requestId: 'test', depth: 0 }) as const

test('a job is seen by who started it and by holders of org:update, and is not there for others', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const starter = await createMember(w, w.org)
  const other = await createMember(w, w.org)
  const { queue, database } = w.api.services
  const origin = { workspaceId: w.org.id, cause: cause(starter.id) }
  const id = await queue.enqueue(database, setUpWorkspace, origin, { workspaceId: w.org.id })
  const settled = await w.api.services.waiter.wait(id, 10_000)
  t.is(settled?.status, 'done')
  const seen = await starter.client.get(`${w.org.path}/jobs/${id}`)
  t.is(seen.status, 200)
  t.like(seen.data, { id, kind: 'workspace.set-up', status: 'done', result: { workspace_id: w.org.id }, error: null, progress: null })
  t.is((await w.org.owner.get(`${w.org.path}/jobs/${id}`)).status, 200)
  t.is((await other.client.get(`${w.org.path}/jobs/${id}`)).status, 404)
  t.is((await starter.client.get(`${w.org.path}/jobs/not-an-id`)).status, 404)
  t.is((await starter.client.get(`${w.org.path}/jobs/${id}/result`)).status, 404)
})

test('a rolled-back write enqueues nothing', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const { queue, database } = w.api.services
  await t.throwsAsync(
    database.transaction(async (tx) => {
      await queue.enqueue(tx, setUpWorkspace, { workspaceId: w.org.id, cause: cause(null) }, { workspaceId: w.org.id })
      throw new Error('no')
    }),
    { message: 'no' },
  )
  t.is((await w.db.query('select from operations')).rowCount, 0)
  t.is((await w.db.query('select from pgboss.job')).rowCount, 0)
})
