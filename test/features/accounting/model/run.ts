import { randomUUID } from 'node:crypto'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'
import { type Asked, digits, Model, type ModelEntry, shown } from '#test/features/accounting/model/model.ts'
import { type Operation, type Report, reports } from '#test/features/accounting/model/random.ts'
import type { Answer } from '#test/support/send-request.ts'

/** The parts of an answer that the model checks. */
export type Response = Pick<Answer, 'status' | 'data' | 'text'>

/** A caller of the API. Every call is answered: one that gets no answer is sent again, with the same Idempotency-Key. */
export interface Caller {
  readonly get: (path: string) => Promise<Response>
  readonly post: (path: string, body: object, headers: Record<string, string>) => Promise<Response>
}

/** Receives contradictions, such as a test of AVA. */
export interface Checks {
  readonly is: (actual: unknown, expected: unknown, message?: string) => unknown
  readonly true: (actual: unknown, message?: string) => unknown
  readonly deepEqual: (actual: unknown, expected: unknown, message?: string) => unknown
}

/** Who works on which books. */
export interface Bookkeepers {
  readonly clients: readonly Caller[]
  /** `/v1/orgs/{id}/accounting`. */
  readonly path: string
  /** Accounts by id, with their kinds. */
  readonly kinds: ReadonlyMap<string, string>
  /** Updates the sums of months, as a worker does on a report's request. */
  readonly sumMonths: () => Promise<void>
}

/** A report as of an instant that was asked for while others were posting. */
interface Taken {
  readonly report: Report
  readonly account: string
  readonly asked: Required<Asked>
  readonly data: Answer['data']
}

/**
 * Lets the clients do all operations, some at each time, and compares every response with the model. Gives the ids of the
 * entries that were acknowledged.
 */
export async function runModel(
  t: Checks,
  { clients, path, kinds, sumMonths }: Bookkeepers,
  operations: Iterable<Operation>,
): Promise<readonly string[]> {
  const accounts = [...kinds.keys()]
  const model = new Model(kinds)
  const taken: Taken[] = []
  const queue = Iterator.from(operations)
  let last = '2000-01-01T00:00:00.000000Z'

  const send = (client: Caller, at: string, body: object) => client.post(path + at, body, { 'idempotency-key': randomUUID() })
  const heard = (entry: Answer['data']): void => {
    model.entries.push(entryOf(entry))
    if (entry.created_at > last) last = entry.created_at
  }

  async function does(client: Caller, operation: Operation): Promise<void> {
    if (operation.do === 'post') {
      const { status, data, text } = await send(client, '/entries', bodyOf(operation, accounts))
      t.is(status, operation.wrong === null ? 201 : 400, text)
      if (status === 201) heard(data)
    } else if (operation.do === 'reverse') {
      const entry = model.entries[operation.choice % Math.max(1, model.entries.length)]
      if (!entry) return
      const { status, data, text } = await send(client, `/entries/${entry.id}/reverse`, { date: operation.date })
      t.true(status === 201 || (status === 400 && text.includes('already reversed')), text)
      if (status === 201) heard(data)
    } else if (operation.do === 'sum months') {
      await sumMonths()
    } else if (operation.do === 'seal') {
      t.is((await send(client, '/seals', {})).status, 201)
    } else {
      const { report, currency, days } = operation
      const account = accounts[operation.choice % accounts.length] ?? ''
      const asked = { currency, before: last, from: days[0], to: days[1] }
      taken.push({ report, account, asked, data: (await client.get(path + addressOf(report, account, asked))).data })
    }
  }

  await Promise.all(
    clients.map(async (client) => {
      for (const operation of queue) await does(client, operation)
    }),
  )
  for (const one of taken) holds(t, model, one)
  const [client] = clients
  if (!client) throw new Error('There is no client')
  for (const currency of Object.keys(digits)) {
    const asked = { currency, before: '9999', from: '2023-02-03', to: '2025-06-07' }
    for (const report of reports) {
      const account = accounts[1] ?? ''
      const address = addressOf(report, account, asked).replace(/&?recorded_before=[^&]*/, '')
      holds(t, model, { report, account, asked, data: (await client.get(path + address)).data })
    }
    await yearsAddUp(t, client, path, currency)
    for (const status of ['active', 'reversed', 'reversal']) {
      const { data } = await client.get(`${path}/entries?limit=1&currency=${currency}&status=${status}`)
      t.is(data.total, model.count(status, currency), `${status} ${currency}`)
    }
  }
  const check = (await client.get(`${path}/verify`)).data
  t.deepEqual({ ...check, seals: 0 }, { ok: true, entries: model.entries.length, seals: 0, differences: [] })
  return model.entries.map(({ id }) => id)
}

/** The balances of a currency add up to zero, and the results of the years to the earnings in the balance sheet. */
async function yearsAddUp(t: Checks, client: Caller, path: string, currency: string): Promise<void> {
  const { rows } = (await client.get(`${path}/trial-balance?currency=${currency}`)).data
  const sum = rows.reduce((all: Decimal, { balance }: { balance: string }) => all.plus(balance), new Decimal(0))
  t.true(sum.isZero(), currency)
  let nets = new Decimal(0)
  for (const year of [2021, 2022, 2023, 2024, 2025, 2026]) {
    const days = `from=${year}-01-01&to=${year}-12-31`
    nets = nets.plus((await client.get(`${path}/reports/profit-loss?${days}&currency=${currency}`)).data.net)
    const { earnings, balanced } = (await client.get(`${path}/reports/balance-sheet?as_of=${year}-12-31&currency=${currency}`)).data
    t.deepEqual([earnings, balanced], [shown(nets, currency), true], `${year} ${currency}`)
  }
}

function holds(t: Checks, model: Model, { report, account, asked, data }: Taken): void {
  const name = `${report} ${JSON.stringify(asked)}`
  const { currency, before, from, to } = asked
  if (report === 'trial-balance') t.deepEqual(data.rows, model.trialBalance({ currency, before }), name)
  if (report === 'profit-loss') {
    const { revenue, expense, net } = data
    t.deepEqual({ revenue: revenue.total, expense: expense.total, net }, model.profitLoss(asked), name)
  }
  if (report === 'balance-sheet') {
    const { assets, liabilities, equity, earnings, balanced } = data
    const totals = { assets: assets.total, liabilities: liabilities.total, equity: equity.total, earnings, balanced }
    t.deepEqual(totals, model.balanceSheet({ currency, before, to }), name)
  }
  if (report === 'ledger') {
    const { opening, closing, rows } = data
    const lines = rows.map(({ entry_id, date, balance }: Record<string, string>) => ({ entry_id, date, balance }))
    t.deepEqual({ opening, closing, rows: lines }, model.ledger(account, { currency, before, from, to }), name)
  }
}

function addressOf(report: Report, account: string, { currency, before, from, to }: Required<Asked>): string {
  const asked = `currency=${currency}&recorded_before=${before}`
  const addresses: Readonly<Record<Report, string>> = {
    'trial-balance': `/trial-balance?${asked}`,
    'profit-loss': `/reports/profit-loss?from=${from}&to=${to}&${asked}`,
    'balance-sheet': `/reports/balance-sheet?as_of=${to}&${asked}`,
    ledger: `/ledger?account=${account}&from=${from}&to=${to}&limit=10000&${asked}`,
  }
  return addresses[report]
}

/** A body that is posted, or that breaks the rule that it names. */
function bodyOf({ date, currency, parts, wrong }: Operation & { do: 'post' }, accounts: readonly string[]): object {
  const account = (choice: number) => accounts[choice % accounts.length]
  const text = (amount: bigint) => new Decimal(amount.toString()).div(1_000_000).toFixed()
  const lines: Record<string, unknown>[] = parts.flatMap(({ from, to, amount }) => [
    { account_id: account(to), debit: text(amount) },
    { account_id: account(from), credit: text(amount) },
  ])
  const [first = {}, ...rest] = lines
  if (wrong === 'unbalanced')
    return { date, currency, lines: [{ ...first, debit: new Decimal(`${first.debit}`).plus('0.000001').toFixed() }, ...rest] }
  if (wrong === 'account') return { date, currency, lines: [{ ...first, account_id: randomUUID() }, ...rest] }
  if (wrong === 'both sides') return { date, currency, lines: [{ ...first, credit: first.debit }, ...rest] }
  return { date, currency: wrong === 'currency' ? 'USDT' : currency, lines }
}

function entryOf({ id, date, currency, created_at: createdAt, reverses = null, lines }: Answer['data']): ModelEntry {
  const amount = ({ debit, credit }: Record<string, string>) => new Decimal(debit ?? '').minus(credit ?? '')
  const kept = lines.map((line: Record<string, string>) => ({ account: line.account_id, amount: amount(line) }))
  return { id, date, currency, createdAt, reverses, lines: kept }
}
