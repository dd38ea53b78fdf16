import type { Bench, Case, Group } from '#bench/case.ts'
import { pathIn, sender } from '#bench/client.ts'
import { type Ledger, makeLedgers } from '#bench/data/ledger.ts'
import { alone, get, nth, race, send } from '#bench/race.ts'
import { withDatabase } from '#bench/servers/connection.ts'
import { updateMonthSums } from '#shared/features/accounting/reports/month-sums.ts'

/** The ledger: posting compared with the bare statement, on few accounts and on many; reports over very many lines. */
export const accounting: Group = {
  name: 'accounting',
  cases: async (bench) => {
    const { databaseUrl, loaded } = bench
    const lines = loaded.sizes.at(-1)?.records ?? 0
    const [few, many, large] = await makeLedgers(databaseUrl, loaded.actorId, [
      { accounts: 2, lines: 0 },
      { accounts: 10_000, lines: 0 },
      { accounts: 200, lines },
    ])
    if (!few || !many || !large) throw new Error('The ledgers are missing')
    return [...(await reads(bench, large, lines)), ...postings(bench, few, many)]
  },
}

const entriesOf = (ledger: Ledger): string => pathIn(ledger, '/accounting/entries')

/** The nth posting of two lines. */
const sale = (accounts: readonly string[]) => (index: number) => {
  const amount = `${1 + (index % 1_000)}.50`
  return {
    memo: `Sale ${index}`,
    lines: [
      { account_id: nth(accounts, index), debit: amount },
      { account_id: nth(accounts, index * 7 + 1), credit: amount },
    ],
  }
}

function postings(bench: Bench, few: Ledger, many: Ledger): Case[] {
  const post = (ledger: Ledger) => send('POST', () => entriesOf(ledger), sale(ledger.accounts))
  const bare = send('POST', () => `/ledger/${few.workspaceId}`, sale(few.accounts))
  return [
    race(bench, { name: 'post', aims: { ratioAtLeast: 0.6 }, floor: bare, kontor: post(few) }),
    race(bench, {
      name: 'post, 10,000 → 2 accounts',
      aims: { ratioAtLeast: 1 / 1.2, ratioAtMost: 1.2 },
      floorIsKontor: true,
      floor: post(many),
      kontor: post(few),
    }),
  ]
}

async function reads(bench: Bench, large: Ledger, lines: number): Promise<Case[]> {
  const { databaseUrl, kontorUrl, loaded } = bench
  // The work of a worker for a report.
  await withDatabase(databaseUrl, 'months', (db) => updateMonthSums({ db, workspace: { id: large.workspaceId } }))
  const sendRequest = sender(kontorUrl, { ...large, token: loaded.token })
  const ledger = `/accounting/ledger?account=${large.accounts[3]}&limit=200`
  let cursor: string | null = ''
  let deep = ledger
  for (let rows = 0; cursor !== null && rows < 10_000; rows += 1_000) {
    deep = cursor === '' ? ledger : `${ledger}&cursor=${cursor}`
    const page: { readonly next_cursor: string | null } = await sendRequest(
      'GET',
      `${ledger.replace('=200', '=1000')}${cursor && `&cursor=${cursor}`}`,
    )
    cursor = page.next_cursor
  }
  const figure = lines.toLocaleString('en')
  const report = (name: string, path: string): Case => alone(bench, name, pathIn(large, path), { p50AtMostMs: 50 })
  return [
    report(`trial balance, ${figure} lines`, '/accounting/trial-balance'),
    report(`profit and loss, ${figure} lines`, '/accounting/reports/profit-loss'),
    report(`balance sheet, ${figure} lines`, '/accounting/reports/balance-sheet'),
    report(`overview, ${figure} lines`, '/accounting/overview'),
    race(bench, {
      name: `ledger page, first → deep, ${figure} lines`,
      aims: { ratioAtLeast: 1 / 1.2 },
      floorIsKontor: true,
      floor: get(() => pathIn(large, ledger)),
      kontor: get(() => pathIn(large, deep)),
    }),
  ]
}
