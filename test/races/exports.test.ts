import test from 'ava'
import { made } from '#test/races/arena.ts'
import { eventually } from '#test/support/eventually.ts'
import { createMember } from '#test/support/factories.ts'
import { lockTable } from '#test/support/locks.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { countLockWaits } from '#test/support/waiting.ts'

const start = shareWorld(test)

test('exports: a record that becomes unreadable during an export is omitted', async (t) => {
  const w = await start()
  const { owner, path } = w.org
  const invoices = `${path}/records/invoices`
  const condition = { 'resource.status': { ne: 'void' } }
  const { client } = await createMember(w, w.org, [
    { effect: 'allow', actions: ['records:read', 'records:export'], resources: ['invoices'], condition },
  ])
  const ids: string[] = []
  for (const notes of ['kept', 'open']) ids.push((await made(owner.post(invoices, { values: { notes } }))).id)
  // The file of an export is created after its records were found.
  const lock = await lockTable(t, w.db, 'blobs', 'exclusive')
  const exporting = client.get(`${invoices}/export`)
  await eventually(async () => (await countLockWaits(w.db, '%into blobs%')) > 0)
  await made(owner.put(`${invoices}/${ids[1]}/values`, { values: { status: 'void', notes: 'secret' } }))
  await lock.release()
  const { text } = await exporting
  t.true(text.includes('kept'))
  t.false(text.includes('secret'))
  t.false(text.includes(ids[1] ?? 'none'))
})
