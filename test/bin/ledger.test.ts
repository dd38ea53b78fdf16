import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { callWith } from '#test/bin/call.ts'
import { openBooks } from '#test/features/accounting/books.ts'
import { balancesOfHledger } from '#test/features/accounting/journal-grammar.ts'
import { createService } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { chartAccounts, charts } from '../../bin/ledger/chart.ts'

const take = shareWorld(test)

async function ledger(policy: readonly object[] = [{ effect: 'allow', actions: ['*'] }]) {
  const w = await take()
  const { client } = await createService(w, w.org, policy)
  const environment = { KONTOR_URL: `http://127.0.0.1:${w.api.port}`, KONTOR_KEY: client.token ?? '', DATA_DIR: w.config.dataDir }
  return { w, kontor: (...args: readonly string[]) => callWith(environment, 'ledger', ...args) }
}

test('ledger: every chart has unique codes, each with a kind', (t) => {
  t.deepEqual(Object.keys(charts), ['services', 'retail', 'non-profit'])
  for (const name of Object.keys(charts)) {
    const accounts = chartAccounts(name)
    t.is(new Set(accounts.map(({ code }) => code)).size, accounts.length, name)
    t.is(new Set(accounts.map((account) => account.name)).size, accounts.length, name)
    t.is(new Set(accounts.map(({ kind }) => kind)).size, 5, name)
    t.true(accounts.length > 30 && accounts.length < 50, name)
  }
})

test('ledger: a chart creates accounts once, and leaves existing ones alone', async (t) => {
  const { w, kontor } = await ledger()
  const { owner, path } = w.org
  await owner.post(`${path}/records/accounts`, { values: { code: '1000', name: 'My bank' } })
  const { length } = chartAccounts('retail')
  const made = await kontor('chart', 'retail', '--json')
  t.is(made.code, 0, made.err)
  t.deepEqual(made.json, { chart: 'retail', created: length - 1, present: 1, errors: [] })
  t.is((await kontor('chart', 'retail')).out, `0 accounts created, ${length} existed\n`)
  const { records } = (await owner.get(`${path}/records/accounts?sort=code&dir=asc&limit=200`)).data
  t.is(records.length, length)
  t.like(records[0].values, { code: '1000', name: 'My bank', kind: null })
  t.like(records.at(-1).values, { code: '6950', name: 'Income tax', kind: 'expense' })
})

test('ledger: an unknown chart is refused with the names of the known ones', async (t) => {
  const { kontor } = await ledger()
  const { code, err } = await kontor('chart', 'bank')
  t.is(code, 2)
  t.regex(err, /There is no chart bank: choose one of services, retail, non-profit/)
  t.regex((await kontor('chart')).out, /services +\d+ accounts/)
  const { kontor: poor } = await ledger([])
  t.is((await poor('chart', 'services')).code, 1)
})

test('ledger: books are verified and exported', async (t) => {
  const { w, kontor } = await ledger()
  const { post } = await openBooks(w.org, ['1', '4'])
  await post(['1 +5', '4 -5'])
  const checked = await kontor('verify')
  t.is(checked.code, 0, checked.err)
  t.is(checked.out, '1 entries and 0 seals: no differences\n')
  const printed = await kontor('export', 'hledger')
  t.is(printed.code, 0, printed.err)
  t.is(balancesOfHledger(printed.out).entries, 1)
  const folder = await mkdtemp(join(tmpdir(), 'kontor-test-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const file = join(folder, 'ledger.csv')
  const written = await kontor('export', 'csv', file, '--json')
  t.is(written.json.size_bytes, readFileSync(file).length)
  t.is(readFileSync(file, 'utf8').split('\r\n').length, 4)
  t.is((await kontor('export', 'gnucash')).code, 2)
})
