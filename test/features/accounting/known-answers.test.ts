import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { balancesOfBeancount, balancesOfHledger } from '#test/features/accounting/journal-grammar.ts'
import type { Org } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

/** Accounts with amounts, a debit above zero; an account is a number in its journal. */
type Amounts = readonly (readonly [account: string, amount: string])[]

/** A journal of another program (fixtures/ledger): entries, its balances at the beginning of days, and its final balances. */
interface Journal {
  readonly entries: { readonly date: string; readonly currency: string; readonly amounts: Amounts }[]
  readonly balances: { readonly date: string; readonly currency: string; readonly amounts: Amounts }[]
  readonly final: { readonly currency: string; readonly amounts: Amounts }[]
}

/** Reads a fixture; accounts are named by their journal and number. */
function readJournals(file: string): Journal {
  const text = readFileSync(new URL(`../../fixtures/ledger/${file}.tsv`, import.meta.url), 'utf8')
  const journal: Journal = { entries: [], balances: [], final: [] }
  let name = file
  for (const line of text.trimEnd().split('\n')) {
    const [kind, ...cells] = line.split('\t')
    const amountsFrom = (place: number): Amounts =>
      cells.slice(place).map((cell) => [`${name} ${cell.split(' ')[0]}`, cell.split(' ')[1] ?? ''] as const)
    const [one = '', other = ''] = cells
    if (kind === 'journal') name = one
    if (kind === 'entry') journal.entries.push({ date: one, currency: other, amounts: amountsFrom(2) })
    if (kind === 'balance') journal.balances.push({ date: one, currency: other, amounts: amountsFrom(2) })
    if (kind === 'final') journal.final.push({ currency: one, amounts: amountsFrom(1) })
  }
  return journal
}

const kinds = ['asset', 'liability', 'equity', 'revenue', 'expense', '']

/** Makes accounts with these codes; their ids by code. */
async function importAccounts({ owner, path }: Org, codes: readonly string[]): Promise<Map<string, string>> {
  const rows = codes.map((code, index) => `${code},${code},${kinds[index % kinds.length]}`)
  for (let from = 0; from < rows.length; from += 500) {
    const csv = ['code,name,kind', ...rows.slice(from, from + 500)].join('\n')
    const { data, text } = await owner.post(`${path}/records/accounts/import`, csv, { 'content-type': 'text/csv' })
    if (data?.failed !== 0) throw new Error(text)
  }
  const ids = new Map<string, string>()
  for (let cursor = ''; ; ) {
    const { data } = await owner.get(`${path}/records/accounts?limit=200${cursor && `&cursor=${cursor}`}`)
    for (const { id, values } of data.records) ids.set(values.code, id)
    if (!data.next_cursor) return ids
    cursor = data.next_cursor
  }
}

/** Books that hold all entries of a fixture. */
async function booksOf(t: ExecutionContext, file: string) {
  const w = await shared()
  const { org } = w
  const { owner } = org
  await owner.patch(org.path, { multi_currency: true })
  const journal = readJournals(file)
  const accounts = await importAccounts(org, [...new Set(journal.entries.flatMap(({ amounts }) => amounts.map(([account]) => account)))])
  const rest = journal.entries.values()
  const lineOf = ([account, amount]: Amounts[number]) => ({
    account_id: accounts.get(account),
    ...(amount.startsWith('-') ? { credit: amount.slice(1) } : { debit: amount }),
  })
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (const { date, currency, amounts } of rest) {
        const { status, text } = await owner.post(`${org.path}/accounting/entries`, { date, currency, lines: amounts.map(lineOf) })
        t.is(status, 201, text)
      }
    }),
  )
  return { owner, path: `${org.path}/accounting`, journal, accounts }
}

/** Text of a decimal without zeros at its end. */
const bare = (text: string): string => (text.includes('.') ? text.replace(/\.?0+$/, '') : text)

/** Whether the trial balance has the other program's final balance of every account. */
async function agree(t: ExecutionContext, { owner, path, journal, accounts }: Awaited<ReturnType<typeof booksOf>>): Promise<void> {
  const said = new Map<string, string>()
  for (const currency of new Set(journal.entries.map(({ currency }) => currency))) {
    for (const { account_id, balance } of (await owner.get(`${path}/trial-balance?currency=${currency}`)).data.rows) {
      said.set(`${currency} ${account_id}`, bare(balance))
    }
  }
  for (const { currency, amounts } of journal.final) {
    for (const [account, amount] of amounts) t.is(said.get(`${currency} ${accounts.get(account)}`), bare(amount), `${account} ${currency}`)
  }
}

test('known answers: the example of beancount has its 92 asserted balances and its final ones', async (t) => {
  const books = await booksOf(t, 'beancount-example')
  const { owner, path, journal, accounts } = books
  t.deepEqual([journal.entries.length, journal.balances.length], [1_269, 92])
  for (const { date, currency, amounts } of journal.balances) {
    const [[account, amount] = ['', '']] = amounts
    const { data } = await owner.get(`${path}/ledger?account=${accounts.get(account)}&from=${date}&currency=${currency}&limit=1`)
    t.is(bare(data.opening), bare(amount), `${account} ${date}`)
  }
  await agree(t, books)
  const folder = mkdtempSync(join(tmpdir(), 'kontor-ledger-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  // Both programs read the export: by their grammar, and by themselves if they are on the PATH.
  for (const [format, read, program, args] of [
    ['hledger', balancesOfHledger, 'hledger', (file: string) => ['-f', file, 'check', '-s']],
    ['beancount', balancesOfBeancount, 'bean-check', (file: string) => [file]],
  ] as const) {
    const { text } = await owner.get(`${path}/export?format=${format}`)
    t.is(read(text).entries, journal.entries.length)
    const file = join(folder, `ledger.${format}`)
    writeFileSync(file, text)
    const { error, status, stderr } = spawnSync(program, args(file), { encoding: 'utf8' })
    if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') t.log(`${program} is not on the PATH`)
    else t.is(status, 0, stderr)
  }
})

test('known answers: 69 journals of ledger’s own tests have the balances that ledger computes', async (t) => {
  const books = await booksOf(t, 'ledger-baseline')
  t.is(new Set(books.journal.final.flatMap(({ amounts }) => amounts.map(([account]) => account.split(' ')[0]))).size, 69)
  await agree(t, books)
})
