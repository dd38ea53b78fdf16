import { randomUUID } from 'node:crypto'
import test from 'ava'
import type pg from 'pg'
import { createAccount, openBooks } from '#test/features/accounting/books.ts'
import { createOrg } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

/** What a transaction of these statements ends with, as the role that Kontor itself uses: its error's text, or `committed`. */
async function committed(statements: (client: pg.PoolClient) => Promise<unknown>): Promise<string> {
  const w = await shared()
  const client = await w.db.connect()
  try {
    await client.query('begin')
    await statements(client)
    const { command } = await client.query('commit')
    return command === 'COMMIT' ? 'committed' : command
  } catch (error) {
    await client.query('rollback')
    return (error as Error).message
  } finally {
    client.release()
  }
}

// By itself: to empty a table is to lock it.
test('guards: nothing that was posted or sealed can be changed, deleted or emptied', async (t) => {
  const w = await shared()
  const books = await openBooks(await createOrg(w), ['1000', '4000'])
  await books.post(['1000 +1', '4000 -1'])
  for (const table of ['journal_entries', 'journal_lines', 'ledger_seals']) {
    for (const statement of [
      `update ${table} set created_at = now()`,
      `update ${table} set created_at = now() where false`,
      `delete from ${table}`,
      `truncate ${table} cascade`,
      `merge into ${table} using (select) as one on true when matched then delete`,
    ])
      t.regex(await committed((client) => client.query(statement)), /only grows$/, statement)
  }
  t.is((await books.read('/entries')).total, 1)
})

/** Writes an entry and its lines past Kontor; a line is `[debit, credit]`. */
async function write(
  client: pg.PoolClient,
  orgId: string,
  lines: readonly (readonly [string, string])[],
  entry: { total?: string; count?: number; currency?: string } = {},
): Promise<void> {
  const { total = '10', count = lines.length, currency = 'USD' } = entry
  const id = randomUUID()
  await client.query(
    `insert into journal_entries (workspace_id, id, date, memo, source_type, currency, total, line_count, created_at)
     values ($1, $2, '2026-01-01', '', 'manual', 'USD', $3, $4, '2026-01-01')`,
    [orgId, id, total, count],
  )
  for (const [index, [debit, credit]] of lines.entries()) {
    await client.query(
      `insert into journal_lines
         (workspace_id, entry_id, position, id, account_id, debit, credit, memo, date, currency, line_count, created_at)
       values ($1, $2, $3, $4, $4, $5, $6, '', '2026-01-01', $7, $8, '2026-01-01')`,
      [orgId, id, index + 1, randomUUID(), debit, credit, currency, count],
    )
  }
}

const broken: readonly [name: string, lines: readonly (readonly [string, string])[], message: RegExp, entry?: object][] = [
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
  test(`guards: the database keeps no entry ${name}`, async (t) => {
    const w = await shared()
    t.regex(await committed((client) => write(client, w.org.id, lines, entry)), message)
  })
}

test('guards: an unbalanced entry is refused at the commit, and a whole one is kept', async (t) => {
  const w = await shared()
  const { id } = await createOrg(w)
  let written = false
  const message = await committed(async (client) => {
    await write(client, id, [
      ['10', '0'],
      ['0', '9'],
    ])
    written = true
  })
  t.true(written)
  t.regex(message, /credits of 9/)
  t.is(
    await committed((client) =>
      write(client, id, [
        ['10', '0'],
        ['0', '10'],
      ]),
    ),
    'committed',
  )
})

test('guards: no line joins an entry that is posted', async (t) => {
  const w = await shared()
  const books = await openBooks(await createOrg(w), ['1000', '4000'])
  const { id } = (await books.post(['1000 +1', '4000 -1'])).data
  const insert = (position: number, count: string) =>
    committed((client) =>
      client.query(
        `insert into journal_lines select workspace_id, entry_id, $2, gen_random_uuid(), account_id, debit, credit, memo, date, currency,
           ${count}, created_at from journal_lines where entry_id = $1 and position = 1`,
        [id, position],
      ),
    )
  t.regex(await insert(1, 'line_count'), /journal_lines_pkey/)
  t.regex(await insert(3, 'line_count'), /journal_lines_place/)
  t.regex(await insert(3, '3'), /journal_lines_entry/)
})

test('guards: an account with lines stays and keeps its kind, by every door', async (t) => {
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
