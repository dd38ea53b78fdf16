import test from 'ava'
import { lastSeq, readAll } from '#test/core/events/reading.ts'
import { openBooks } from '#test/features/accounting/books.ts'
import { createMember } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const newWorkspace = shareWorld(test)

test('events: postings, reversals and seals are events for who reads the books; a refused posting is none', async (t) => {
  const w = await newWorkspace()
  const { owner } = w.org
  const books = await openBooks(w.org, ['1000', '4000'])
  const after = await lastSeq(w)
  const lines = ['1000 +12.50', '4000 -12.50']
  const entry = (await books.post(lines, { date: '2026-11-20', memo: 'planted', source_type: 'invoice', source_id: 'I-1' })).data
  t.is((await books.post(lines, { currency: 'JPY' })).status, 400)
  const reversal = (await owner.post(`${books.path}/entries/${entry.id}/reverse`, {})).data
  const seal = (await owner.post(`${books.path}/seals`, {})).data
  const reader = await createMember(w, w.org, [{ effect: 'allow', actions: ['accounting:read'] }])
  const told = { date: '2026-11-20', source_type: 'invoice', source_id: 'I-1' }
  t.deepEqual(
    (await readAll(w, reader.client, after)).map(({ type, subject, data }) => ({ type, subject, data })),
    [
      { type: 'ledger.entry.posted', subject: { id: entry.id }, data: told },
      { type: 'ledger.entry.reversed', subject: { id: entry.id }, data: { ...told, reversal_id: reversal.id } },
      { type: 'ledger.sealed', subject: { id: seal.id }, data: { until: seal.until, entries: 2 } },
    ],
  )
  t.deepEqual(await readAll(w, (await createMember(w, w.org)).client, after), [])
})
