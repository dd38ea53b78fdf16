import { countCharacters } from '#shared/core/types/field-kinds/text.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** Maximum characters of an auto-numbering pattern. */
const maxNumberingLength = 100

/** A parsed auto-numbering pattern. */
interface Numbering {
  /** Formats a number issued at a time, in UTC. A number with more digits than the pattern keeps them all. */
  readonly format: (number: number, at: Date) => string
  /** The counter period that a time belongs to, as a prefix of its ISO date; empty when numbers never restart. */
  readonly periodOf: (at: Date) => string
}

/** The text of each date token, cut from a UTC date in ISO form. */
const dateTokens: Readonly<Record<string, (iso: string) => string>> = {
  yyyy: (iso) => iso.slice(0, 4),
  yy: (iso) => iso.slice(2, 4),
  mm: (iso) => iso.slice(5, 7),
  dd: (iso) => iso.slice(8, 10),
}

/** Each period with the length of its ISO date prefix and the date tokens that its pattern needs, at least one of each group. */
const periods: Readonly<Record<string, { length: number; tokens: readonly (readonly string[])[] }>> = {
  daily: { length: 10, tokens: [['yyyy', 'yy'], ['mm'], ['dd']] },
  monthly: { length: 7, tokens: [['yyyy', 'yy'], ['mm']] },
  yearly: { length: 4, tokens: [['yyyy', 'yy']] },
}

type Part = (number: number, iso: string) => string

/** Cache of parsed patterns: a field's pattern is used on every creation. */
const parsed = new Map<string, Numbering>()
const maxParsed = 10_000

/** Checks an auto-numbering pattern (docs/contract/types-and-fields.md#auto-numbers). Throws VALIDATION_ERROR with the reason. */
export function parseNumbering(pattern: string): Numbering {
  const known = parsed.get(pattern)
  if (known) return known
  const numbering = readPattern(pattern)
  if (parsed.size >= maxParsed) parsed.clear()
  parsed.set(pattern, numbering)
  return numbering
}

function readPattern(pattern: string): Numbering {
  if (countCharacters(pattern) > maxNumberingLength) throw invalidPattern(`must have at most ${maxNumberingLength} characters`)
  const parts: Part[] = []
  const sequences: { readonly length: number }[] = []
  for (const [text, token] of pattern.matchAll(/\{([^{}]*)\}|[^{}]+|[{}]/g)) {
    if (token === undefined) {
      if (text === '{' || text === '}') throw invalidPattern(`has a ${text} that belongs to no token`)
      parts.push(() => text)
      continue
    }
    const date = Object.hasOwn(dateTokens, token) ? dateTokens[token] : undefined
    if (date) {
      parts.push((_, iso) => date(iso))
      continue
    }
    const { digits, period } = parseSequence(token)
    sequences.push({ length: period.length })
    requireTokens(period.tokens, pattern)
    parts.push((number) => String(number).padStart(digits, '0'))
  }
  const [sequence] = sequences
  if (!sequence || sequences.length > 1) throw invalidPattern(`must have exactly one {seq} token, got ${sequences.length}`)
  return {
    format: (number, at) => {
      const iso = at.toISOString()
      return parts.map((part) => part(number, iso)).join('')
    },
    periodOf: (at) => at.toISOString().slice(0, sequence.length),
  }
}

const never = { length: 0, tokens: [] }

function parseSequence(token: string): { digits: number; period: { length: number; tokens: readonly (readonly string[])[] } } {
  const [, digits, name] = /^seq(?::(0|[1-9]\d*)(?::([a-z]+))?)?$/.exec(token) ?? refuseToken(token)
  const width = digits === undefined ? 1 : Number(digits)
  if (width < 1 || width > 10) throw invalidPattern(`{${token}}: the number of digits must be 1 to 10`)
  const period = name === undefined ? never : Object.hasOwn(periods, name) ? periods[name] : undefined
  if (!period) throw invalidPattern(`{${token}}: the period must be ${Object.keys(periods).join(', ')}`)
  return { digits: width, period }
}

function refuseToken(token: string): never {
  throw invalidPattern(`{${token}} is no token; there are {seq}, {seq:N}, {seq:N:period}, {yyyy}, {yy}, {mm} and {dd}`)
}

/** Throws VALIDATION_ERROR when date tokens are missing: numbers of two periods would be equal. */
function requireTokens(choices: readonly (readonly string[])[], pattern: string): void {
  for (const choice of choices) {
    if (choice.some((token) => pattern.includes(`{${token}}`))) continue
    throw invalidPattern(`must include ${choice.map((token) => `{${token}}`).join(' or ')}, since its numbers restart`)
  }
}

const invalidPattern = (rule: string) => problem('VALIDATION_ERROR', `pattern ${rule}`)
