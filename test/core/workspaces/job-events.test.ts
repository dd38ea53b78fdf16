import test from 'ava'
import { failAbandonedOperations } from '#shared/platform/jobs/operations/abandoned-operations.ts'
import { cancelWaitingOperation } from '#shared/platform/jobs/operations/operations.ts'
import { lastSeq, readAll, type Seen } from '#test/core/events/reading.ts'
import { fileExport, operatorOf } from '#test/platform/jobs/operator/support.ts'
import { addLostOperation, refuseJobFiles } from '#test/platform/jobs/rows.ts'
import { eventually } from '#test/support/eventually.ts'
import { createMember, createOrg } from '#test/support/factories.ts'
import { hurry } from '#test/support/hurry.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { type World, world } from '#test/support/world.ts'

const shared = shareWorld(test)

const failures = (events: readonly Seen[]) => events.filter(({ type }) => type === 'jobs.failed')
const brief = ({ subject, data }: Seen) => [subject.id, data]

/** A batch that fails by what its caller sent; returns the id of its job. */
async function failBatch(w: World, client: World['org']['owner']): Promise<string> {
  const operations = [{ op: 'create', values: { name: 'planted', unknown_key: 'planted' } }]
  const { status, data } = await client.post(
    `${w.org.path}/records/locations/batch`,
    { operations, atomic: true },
    { prefer: 'respond-async' },
  )
  if (status !== 202) throw new Error(`expected 202, got ${status}`)
  await eventually(async () => (await client.get(`${w.org.path}/jobs/${data.job_id}`)).data.status === 'failed')
  return data.job_id
}

test('job events: a failure is told to who started the job and to holders of org:update, without its text', async (t) => {
  const w = await shared()
  const starter = await createMember(w, w.org, [{ effect: 'allow', actions: ['records:read', 'records:create'] }])
  const other = await createMember(w, w.org, [{ effect: 'allow', actions: ['records:read', 'records:create', 'types:read'] }])
  const manager = await createMember(w, w.org, [{ effect: 'allow', actions: ['org:update'] }])
  const after = await lastSeq(w)
  const id = await failBatch(w, starter.client)
  const expected = [id, { kind: 'records.change', status: 'failed', code: 'VALIDATION_ERROR' }]
  for (const client of [starter.client, manager.client, w.org.owner]) {
    const [event, ...more] = failures(await readAll(w, client, after))
    t.deepEqual(more, [])
    t.deepEqual(event && brief(event), expected)
    t.deepEqual(
      [event?.actor, event?.cause],
      [
        { id: starter.id, type: 'user' },
        { kind: 'request', id: null },
      ],
    )
    t.false(JSON.stringify(event).includes('planted'))
  }
  t.deepEqual(failures(await readAll(w, other.client, after)), [])
})

test('job events: of what never failed there is none', async (t) => {
  const w = await shared()
  const after = await lastSeq(w)
  t.is((await w.org.owner.get(`${w.org.path}/records/locations/export`)).status, 200)
  t.deepEqual(failures(await readAll(w, w.org.owner, after)), [])
})

test('job events: a job that is retried and fails again is told twice, one that was given up once', async (t) => {
  const w = await shared()
  const after = await lastSeq(w)
  const { act } = operatorOf(w)
  const { database, jobQueue } = w.api.services
  const acceptFiles = await refuseJobFiles(w.db)
  const id = await fileExport(w.org)
  t.is(await hurry(w, id), 'failed')
  await w.drain()
  await act('retry', id, { alsoAnswered: true })
  t.is(await hurry(w, id), 'failed')
  await acceptFiles()
  await w.drain()
  await act('discard', id)
  const lost = await addLostOperation(w.db, w.org.id)
  for (let time = 0; time < 2; time += 1) await database.transaction((tx) => failAbandonedOperations(tx, jobQueue))
  const failed = (kind: string) => ({ kind, status: 'failed', code: 'INTERNAL' })
  const events = failures(await readAll(w, w.org.owner, after))
  t.deepEqual(events.map(brief), [
    [id, failed('records.export')],
    [id, failed('records.export')],
    [lost, failed('lost')],
  ])
  t.is(new Set(events.map((event) => event.id)).size, 3)
  t.deepEqual(events[2]?.actor, { id: null, type: 'system' })
})

test('job events: a job that an operator cancels, or that nobody waits for any more, is told', async (t) => {
  const w = await world({}, ['schedule'])
  t.teardown(w.close)
  const org = await createOrg(w)
  const other = { ...w, org }
  const [cancelled, left] = [await fileExport(org), await fileExport(org)]
  await operatorOf(w).act('cancel', cancelled)
  t.true(await cancelWaitingOperation(w.api.services.database, left))
  t.deepEqual(failures(await readAll(other, org.owner)).map(brief), [
    [cancelled, { kind: 'records.export', status: 'failed', code: 'CANCELLED' }],
    [left, { kind: 'records.export', status: 'failed', code: 'INTERNAL' }],
  ])
})
