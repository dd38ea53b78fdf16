import test from 'ava'
import { createAccount, openBooks } from '#test/features/accounting/books.ts'
import { addEntry, addLine, commit, ledgerTamperings, type WrittenEntry } from '#test/features/accounting/rows.ts'
import { createOrg } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

test('guards: posted entries and seals cannot be changed, deleted or truncated', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const books = await openBooks(org, ['1000', '4000'])
  await books.post(['1000 +1', '4000 -1'])
  t.is((await org.owner.post(`${books.path}/seals`, {})).status, 201)
  for (const table of ['journal_entries', 'journal_lines', 'ledger_seals']) {
    for (const tamper of ledgerTamperings) {
      const statement = tamper(table)
      t.regex(await commit(w.db, (client) => client.query(statement)), /only grows$/, statement)
    }
  }
  t.is((await books.read('/entries')).total, 1)
})

const broken: readonly [name: string, lines: readonly (readonly [string, string])[], message: RegExp, entry?: WrittenEntry][] = [
  [
    'that is off by a millionth',
    [
      ['10', '0'],
      ['0', '9.999999'],
    ],
    /debits of 10\.000000, credits of 9\.999999/,
  ],
  [
    'whose total is another',
    [
      ['10', '0'],
      ['0', '10'],
    ],
    /a total of 11/,
    { total: '11' },
  ],
  [
    'of debits alone',
    [
      ['5', '0'],
      ['5', '0'],
    ],
    /credits of 0/,
  ],
  [
    'with a line of both sides',
    [
      ['10', '10'],
      ['0', '10'],
    ],
    /journal_lines_side/,
  ],
  [
    'with an empty line',
    [
      ['10', '0'],
      ['0', '10'],
      ['0', '0'],
    ],
    /journal_lines_side/,
  ],
  [
    'with a negative line',
    [
      ['-10', '0'],
      ['0', '-10'],
    ],
    /journal_lines_side/,
  ],
  [
    'with an amount too large',
    [
      ['9223372036854.000001', '0'],
      ['0', '9223372036854.000001'],
    ],
    /journal_lines_side/,
  ],
  ['with one line', [['10', '0']], /line_count/],
  [
    'that lacks a line',
    [
      ['10', '0'],
      ['0', '10'],
    ],
    /has 2 of 3 lines/,
    { count: 3 },
  ],
  [
    'with a line in another currency',
    [
      ['10', '0'],
      ['0', '10'],
    ],
    /journal_lines_entry/,
    { currency: 'EUR' },
  ],
]
for (const [name, lines, message, entry] of broken) {
  test(`guards: the database refuses an entry ${name}`, async (t) => {
    const w = await shared()
    t.regex(await commit(w.db, (client) => addEntry(client, w.org.id, lines, entry)), message)
  })
}

test('guards: an unbalanced entry is refused at the commit, and a balanced one is stored', async (t) => {
  const w = await shared()
  const { id } = await createOrg(w)
  let written = false
  const message = await commit(w.db, async (client) => {
    await addEntry(client, id, [
      ['10', '0'],
      ['0', '9'],
    ])
    written = true
  })
  t.true(written)
  t.regex(message, /credits of 9/)
  t.is(
    await commit(w.db, (client) =>
      addEntry(client, id, [
        ['10', '0'],
        ['0', '10'],
      ]),
    ),
    'committed',
  )
})

test('guards: no line can be added to a posted entry', async (t) => {
  const w = await shared()
  const books = await openBooks(await createOrg(w), ['1000', '4000'])
  const { id } = (await books.post(['1000 +1', '4000 -1'])).data
  const insert = (position: number, lineCount?: number) => commit(w.db, (client) => addLine(client, id, position, lineCount))
  t.regex(await insert(1), /journal_lines_pkey/)
  t.regex(await insert(3), /journal_lines_place/)
  t.regex(await insert(3, 3), /journal_lines_entry/)
})

test('guards: an account with lines cannot be deleted or change its kind, by any route', async (t) => {
  const w = await shared()
  const { org } = w
  const books = await openBooks(org, ['1000', '4000', '5000'])
  await books.post(['1000 +1', '4000 -1'])
  await books.post(['1000 +1', '4000 -1'])
  const all = `${org.path}/records/accounts`
  const account = `${all}/${books.accounts['1000']}`
  const deleted = await org.owner.delete(account)
  t.is(deleted.status, 400)
  t.is(deleted.body.error.message, 'the account has 2 lines in the ledger and cannot be deleted')
  for (const kind of ['equity', null]) {
    const changed = await org.owner.put(`${account}/values`, { values: { kind } })
    t.is(changed.status, 400)
    t.is(changed.body.error.message, 'values.kind cannot change: the account has 2 lines in the ledger')
  }
  const batch = await org.owner.post(`${all}/batch`, {
    operations: [
      { op: 'delete', id: books.accounts['1000'] },
      { op: 'upsert', by: 'code', values: { code: '4000', kind: 'asset' } },
      { op: 'delete', id: books.accounts['5000'] },
      { op: 'upsert', by: 'code', values: { code: '4000', name: 'Sales', kind: 'revenue' } },
    ],
  })
  t.deepEqual(
    batch.data.results.map(({ status }: { status: number }) => status),
    [400, 400, 204, 200],
  )
  t.is((await books.post(['1000 +1', '5000 -1'])).status, 400)
  const unused = await createAccount(org, '5100')
  t.is((await org.owner.put(`${all}/${unused}/values`, { values: { kind: 'asset' } })).status, 204)
  t.is((await org.owner.delete(`${all}/${unused}`)).status, 204)
})
