import type { Client } from '#test/support/client.ts'
import type { Org } from '#test/support/factories.ts'
import type { Answer } from '#test/support/send-request.ts'

/** A workspace's books as a test keeps them. */
export interface Books {
  /** `/v1/orgs/{id}/accounting`. */
  readonly path: string
  /** Ids of accounts by their code. */
  readonly accounts: Readonly<Record<string, string>>
  /** Posts lines written as `code +amount` for a debit and `code -amount` for a credit. */
  readonly post: (lines: readonly string[], more?: object, client?: Client, headers?: Record<string, string>) => Promise<Answer>
  /** Reads a path below `/accounting`; throws unless it succeeds. */
  readonly read: (path: string) => Promise<Answer['data']>
  /** A trial balance by code: `[debit, credit, balance]`. */
  readonly trialBalance: (query?: string) => Promise<Readonly<Record<string, readonly [string, string, string]>>>
}

/** The kinds by the first digit of a code. */
const kinds = { '1': 'asset', '2': 'liability', '3': 'equity', '4': 'revenue', '5': 'expense' } as Readonly<Record<string, string>>

/** Makes accounts with these codes: 1… assets, 2… liabilities, 3… equity, 4… revenue, 5… expense, others without a kind. */
export async function openBooks(org: Org, codes: readonly string[]): Promise<Books> {
  const { owner } = org
  const path = `${org.path}/accounting`
  const accounts: Record<string, string> = {}
  for (const code of codes) accounts[code] = await createAccount(org, code)
  const codeOf = (id: string) => Object.keys(accounts).find((code) => accounts[code] === id) ?? id
  const read = async (below: string) => {
    const answer = await owner.get(path + below)
    if (answer.status !== 200) throw new Error(`${below}: ${answer.text}`)
    return answer.data
  }
  return {
    path,
    accounts,
    read,
    post: (lines, more = {}, client = owner, headers = {}) =>
      client.post(`${path}/entries`, { lines: lines.map((line) => lineOf(line, accounts)), ...more }, headers),
    trialBalance: async (query = '') => {
      const { rows } = await read(`/trial-balance${query}`)
      return Object.fromEntries(
        rows.map((row: { account_id: string; debit: string; credit: string; balance: string }) => [
          codeOf(row.account_id),
          [row.debit, row.credit, row.balance],
        ]),
      )
    },
  }
}

export async function createAccount({ owner, path }: Org, code: string, values: object = {}): Promise<string> {
  const kind = kinds[code[0] ?? ''] ?? null
  const made = await owner.post(`${path}/records/accounts`, { values: { code, name: `Account ${code}`, kind, ...values } })
  if (made.status !== 201) throw new Error(made.text)
  return made.data.id
}

/** `1000 +12.50` debits the account 1000. */
export function lineOf(text: string, accounts: Readonly<Record<string, string>>) {
  const [, code = '', sign, amount] = /^(\S+) ([+-])(\S+)$/.exec(text) ?? []
  return { account_id: accounts[code] ?? code, [sign === '+' ? 'debit' : 'credit']: amount }
}
