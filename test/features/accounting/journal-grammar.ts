/** The content of a journal, parsed by the grammar of its tool and without Kontor's code. */
export interface Journal {
  /** Sums of the postings in millionths, by `account currency`. */
  readonly balances: ReadonlyMap<string, bigint>
  readonly entries: number
}

const millionths = (text: string): bigint => {
  const [, sign = '', units = '', digits = ''] = /^(-?)(\d+)(?:\.(\d{1,6}))?$/.exec(text) ?? []
  if (units === '') throw new Error(`${text} is no amount`)
  const amount = BigInt(units) * 1_000_000n + BigInt(digits.padEnd(6, '0'))
  return sign === '-' ? -amount : amount
}

const days = '\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])'
const account = '(?:Assets|Liabilities|Equity|Income|Expenses)(?::[A-Z0-9][A-Za-z0-9-]*)+'
const amount = '(-?\\d+(?:\\.\\d+)?) ([A-Z]{3})'

/** Reads lines one by one; every line must be one of the grammar's, and every entry must sum up to nothing in each currency. */
function read(text: string, kinds: readonly (readonly [RegExp, 'entry' | 'posting' | 'other'])[], declared: RegExp): Journal {
  const balances = new Map<string, bigint>()
  const names = new Set([...text.matchAll(declared)].map(([, name = '']) => name))
  let [entries, open] = [0, new Map<string, bigint>()]
  const close = () => {
    for (const [currency, sum] of open) if (sum !== 0n) throw new Error(`an entry is off by ${sum} ${currency}`)
    open = new Map()
  }
  for (const line of text.split('\n')) {
    const kind = kinds.find(([pattern]) => pattern.test(line))
    if (!kind) throw new Error(`no line of the grammar: ${JSON.stringify(line)}`)
    if (kind[1] === 'entry') {
      close()
      entries += 1
    }
    if (kind[1] !== 'posting') continue
    const [, name = '', number = '', currency = ''] = kind[0].exec(line) ?? []
    if (!names.has(name)) throw new Error(`${name} is not declared`)
    const key = `${name} ${currency}`
    balances.set(key, (balances.get(key) ?? 0n) + millionths(number))
    open.set(currency, (open.get(currency) ?? 0n) + millionths(number))
  }
  close()
  return { balances, entries }
}

/** The part of hledger's journal format that an export uses (hledger manual, Journal). */
export const balancesOfHledger = (text: string): Journal =>
  read(
    text,
    [
      [/^$|^;.*$/, 'other'],
      [/^decimal-mark \.$/, 'other'],
      [/^commodity [A-Z]{3}$/, 'other'],
      [new RegExp(`^account ${account}(?:  ; [^\\[\\]:]*)?$`), 'other'],
      [new RegExp(`^${days} \\* \\([0-9a-f-]{36}\\)(?: [^;]*)?(?:  ; reverses:[0-9a-f-]{36})?$`), 'entry'],
      [new RegExp(`^ {4}(${account}) {2}${amount}(?:  ; [^\\[\\]:]*)?$`), 'posting'],
    ],
    new RegExp(`^account (${account})(?:$|  )`, 'gm'),
  )

const text = '"(?:[^"\\\\]|\\\\["\\\\])*"'

/** The part of beancount's language that an export uses (beancount language syntax). */
export const balancesOfBeancount = (journal: string): Journal =>
  read(
    journal,
    [
      [/^$|^;.*$/, 'other'],
      [new RegExp(`^option ${text} ${text}$`), 'other'],
      [new RegExp(`^${days} open ${account}$`), 'other'],
      [new RegExp(`^ {2,4}[a-z][a-z_]*: ${text}$`), 'other'],
      [new RegExp(`^${days} \\* ${text}$`), 'entry'],
      [new RegExp(`^ {2}(${account}) {2}${amount}$`), 'posting'],
    ],
    new RegExp(`^${days} open (${account})$`, 'gm'),
  )
