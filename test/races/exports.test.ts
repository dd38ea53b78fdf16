import test from 'ava'
import { made } from '#test/races/arena.ts'
import { createMember } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)

test('exports: a record that becomes unreadable while it is exported is left out', async (t) => {
  const w = await start()
  const { owner, path } = w.org
  const invoices = `${path}/records/invoices`
  const condition = { 'resource.status': { ne: 'void' } }
  const { client } = await createMember(w, w.org, [
    { effect: 'allow', actions: ['records:read', 'records:export'], resources: ['invoices'], condition },
  ])
  const ids: string[] = []
  for (const notes of ['kept', 'open']) ids.push((await made(owner.post(invoices, { values: { notes } }))).id)
  // The file of an export is begun once it is known which records match.
  const other = await w.db.connect()
  t.teardown(() => other.release(true))
  await other.query('begin')
  await other.query('lock table blobs in exclusive mode')
  const exporting = client.get(`${invoices}/export`)
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like 'insert into blobs%'`
  while ((await w.db.query(waiting)).rowCount === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  await made(owner.put(`${invoices}/${ids[1]}/values`, { values: { status: 'void', notes: 'secret' } }))
  await other.query('commit')
  const { text } = await exporting
  t.true(text.includes('kept'))
  t.false(text.includes('secret'))
  t.false(text.includes(ids[1] ?? 'none'))
})
