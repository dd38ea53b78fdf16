import test from 'ava'
import { addFigures } from '#shared/platform/jobs/figures/store.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { callKontor } from '#test/bin/call.ts'
import { addDeadProcess, countRowsOfWorkspace, listSchemas } from '#test/bin/rows.ts'
import { createMember, createOrg, type Org } from '#test/support/factories.ts'
import { dropQueuedJobs } from '#test/support/rows.ts'
import { settle } from '#test/support/things.ts'
import { type World, world } from '#test/support/world.ts'
import { startWorker } from '#workers/worker.ts'

/** Puts something of every feature into a workspace, rows that only grow and files among them. */
async function fill(w: World, org: Org): Promise<void> {
  const { things } = await settle(w, org)
  const record = await things.record()
  await things.rule()
  await things.record()
  await things.run(await things.fn())
  await things.flowRun(await things.flow(), 'ok')
  await things.secret()
  await things.entry()
  await org.owner.post(`${org.path}/accounting/seals`, {})
  const { bucketId } = await things.space()
  await things.object(bucketId)
  await things.share(bucketId)
  const queue = await things.queue()
  await things.queueItem(queue.id, { record_id: record })
  await things.link()
  await things.invoice()
  await things.module()
  await things.role()
  await things.key(await things.service())
  const form = await things.form()
  await things.submission(form.id)
  const site = await things.site()
  await things.document(site.id)
  await things.asset()
  await things.messageTemplate()
  await things.message()
  await things.stoppedAddress()
  await things.invitation()
  const member = await things.member()
  await things.notification(member)
  await things.job(member)
}

/** The counts without the figures of work, to which the processes add. */
const withoutFigures = ({ job_figures: _, workspace_figures: __, ...counts }: Record<string, number>) => counts

test('operating: status shows the processes with pools, release and heartbeat, and dead ones', async (t) => {
  const w = await world({ KONTOR_RELEASE: '2026-11' })
  t.teardown(w.close)
  const { json } = await callKontor(w, 'status', '--json')
  t.deepEqual(
    json.processes.map(
      ({ kind, pools, release, dead, pid }: { kind: string; pools: string[]; release: string; dead: boolean; pid: number }) => [
        kind,
        pools.length,
        release,
        dead,
        pid,
      ],
    ),
    [
      ['api', 0, '2026-11', false, process.pid],
      ['worker', 6, '2026-11', false, process.pid],
    ],
  )
  t.deepEqual(json.migrations.missing, [])
  t.deepEqual(json.store, { kind: 'disk', fault: null })
  t.like(json.mail, { waiting: 0, uncertain: 0 })
  t.true(json.database.open >= 2 && json.database.limit > json.database.open)
  const { out } = await callKontor(w, 'status')
  t.regex(
    out,
    /^ {2}worker functions,flows,data,mail,webhooks,schedule +\S+:\d+ +release 2026-11 .* heartbeat \d+ s ago +\d+ MB +clock -?\d+ ms$/m,
  )

  await addDeadProcess(w.db, { job: 'records.import', id: w.org.id, workspace_id: w.org.id, since: '2026-01-01T00:00:00Z' })
  const dead = await callKontor(w, 'status')
  t.regex(dead.out, /^ {2}worker data +elsewhere:1 +release old .* DEAD: last heartbeat 6\d s ago +1 MB +CLOCK WRONG by 7200\.0 s$/m)
  t.regex(dead.out, new RegExp(`^ {2}elsewhere:1 {2}ran {2}records\\.import {2}${w.org.id} `, 'm'))
})

test('operating: a process that stops is no longer shown', async (t) => {
  const w = await world({}, ['data'])
  t.teardown(w.close)
  const count = async () => (await callKontor(w, 'status', '--json')).json.processes.length
  const worker = await startWorker(w.config, ['mail'], createLogger('worker', 'silent'))
  t.is(await count(), 3)
  await worker.stop(0)
  t.is(await count(), 2)
})

test('operating: workspaces, their usage and people are listed', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const { org } = w
  await createMember(w, org)
  await org.owner.post(`${org.path}/records/locations`, { values: { name: 'Here' } })
  const { json } = await callKontor(w, 'org', 'list', '--json')
  t.like(json.workspaces[0], { id: org.id, name: 'Acme', status: 'active', plan: 'paid', members: 2 })
  t.regex((await callKontor(w, 'org', 'list')).out, new RegExp(`^${org.id} +Acme +active +paid `, 'm'))
  const usage = (await callKontor(w, 'org', 'usage', 'Acme', '--json')).json
  t.like(usage, { id: org.id, members: 2, records: 1, file_bytes: 0, jobs_waiting: 0 })
  t.true(usage.record_bytes > 0)
  const everybody = (await callKontor(w, 'user', 'list', '--json')).json.people
  t.is(everybody.length, 2)
  t.like(
    everybody.find(({ id }: { id: string }) => id === org.ownerId),
    { owns: 1, belongs_to: 1 },
  )
  const other = await createOrg(w, 'Other')
  t.is((await callKontor(w, 'user', 'list', other.id, '--json')).json.people.length, 1)
})

test('operating: a workspace is deleted with everything in it, and no row of another', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const doomed = await createOrg(w, 'Doomed')
  const kept = await createOrg(w, 'Kept')
  for (const org of [doomed, kept]) await fill(w, org)
  await w.drain()
  const before = withoutFigures(await countRowsOfWorkspace(w.db, kept.id))
  t.true(Object.keys(before).length > 30, Object.keys(before).join())

  const wrong = await callKontor(w, 'org', 'delete', doomed.id, 'Kept', '--yes')
  t.is(wrong.code, 2)
  t.regex(wrong.err, /is named Doomed, not Kept/)
  const unsure = await callKontor(w, 'org', 'delete', doomed.id, 'Doomed')
  t.is(unsure.code, 2)
  t.regex(unsure.err, /--yes deletes it with everything in it/)
  t.is((await doomed.owner.get(doomed.path)).status, 200)

  t.is((await callKontor(w, 'org', 'delete', doomed.id, 'Doomed', '--yes')).code, 0)
  await w.drain()
  t.is((await callKontor(w, 'org', 'usage', doomed.id, '--json')).json.error.code, 'NOT_FOUND')
  t.deepEqual(await countRowsOfWorkspace(w.db, doomed.id), {})
  t.false((await listSchemas(w.db)).includes(`ws_${doomed.id.replaceAll('-', '')}`))
  t.is((await doomed.owner.get(doomed.path)).status, 404)
  t.is((await doomed.owner.get('/v1/auth/me')).status, 200)
  t.deepEqual(withoutFigures(await countRowsOfWorkspace(w.db, kept.id)), before)
  t.is((await kept.owner.get(kept.path)).status, 200)
})

test('operating: a workspace that is being deleted is suspended, and cannot be resumed', async (t) => {
  const w = await world()
  t.teardown(async () => {
    await dropQueuedJobs(w.db)
    await w.close()
  })
  const org = await createOrg(w, 'Doomed')
  await w.worker.pools.stop(0)
  t.is((await callKontor(w, 'org', 'delete', org.id, 'Doomed', '--yes')).code, 0)
  t.is((await org.owner.get(org.path)).body.error.code, 'ORG_SUSPENDED')
  const resumed = await callKontor(w, 'org', 'resume', org.id)
  t.regex(resumed.err, /^The workspace Doomed is being deleted/)
  t.is((await callKontor(w, 'org', 'list', '--json')).json.workspaces.find(({ id }: { id: string }) => id === org.id).status, 'deleting')
})

test('operating: org top shows what was done for each workspace, the busiest first', async (t) => {
  const w = await world({}, [])
  t.teardown(w.close)
  const { database } = w.api.services
  const busy = await createOrg(w, 'Busy')
  const figures = { calls: 7, computingMs: 1_500, databaseMs: 60_000, jobs: 2, jobMs: 3_000 }
  await addFigures(database, new Date(), [], [], [{ ...figures, workspaceId: busy.id }])
  const { json } = await callKontor(w, 'org', 'top', '--json')
  t.like(json.workspaces[0], { id: busy.id, calls: 7, computing_seconds: 1.5, database_seconds: 60, job_share: 1 })
  t.is(json.workspaces.length, 2)
  const { out } = await callKontor(w, 'org', 'top')
  t.regex(out.split('\n')[1] ?? '', /^[0-9a-f-]{36} {2}Busy +7 +1\.5 +60 +2 +3 +100 %/)
})
