import { formulaLimits } from '#shared/platform/formula/limits.ts'
import { formulaProblem, quoteSource } from '#shared/platform/formula/problems.ts'
import { codePoints, fitsText } from '#shared/platform/formula/values/text.ts'

export type TokenKind = 'number' | 'text' | 'name' | 'error' | 'symbol' | 'end'

/** A token: its source text (for kind `text` unquoted) and its start position from 0. */
export interface Token {
  readonly kind: TokenKind
  readonly text: string
  readonly at: number
}

const patterns: readonly (readonly [kind: TokenKind, pattern: RegExp])[] = [
  ['number', /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y],
  ['text', /"(?:[^"]|"")*"/y],
  ['name', /[\p{L}_][\p{L}\p{M}\p{N}_.]*/uy],
  ['error', /#(?:NULL!|DIV\/0!|VALUE!|REF!|NAME\?|NUM!|N\/A)/iy],
  ['symbol', /<>|<=|>=|[-+*/^&%=<>(),]/y],
]

const blanks = /\s*/y

/**
 * Splits a formula into tokens; the last is `end`. One leading `=` is dropped. Throws VALIDATION_ERROR for an unknown character, a text
 * without a closing quote, and a source that is too long.
 */
export function tokenize(source: string): Token[] {
  if (!fitsText(source, formulaLimits.sourceLength)) {
    throw formulaProblem(`must be at most ${formulaLimits.sourceLength} characters, got ${codePoints(source)}`)
  }
  const tokens: Token[] = []
  for (let at = skipBlanks(source, 0); at < source.length; ) {
    const token = tokenAt(source, at)
    at = skipBlanks(source, at + token.text.length)
    tokens.push(token.kind === 'text' ? { ...token, text: token.text.slice(1, -1).replaceAll('""', '"') } : token)
  }
  if (tokens[0]?.text === '=' && tokens[0].kind === 'symbol') tokens.shift()
  tokens.push({ kind: 'end', text: '', at: source.length })
  return tokens
}

function skipBlanks(source: string, at: number): number {
  blanks.lastIndex = at
  return at + (blanks.exec(source)?.[0].length ?? 0)
}

function tokenAt(source: string, at: number): Token {
  for (const [kind, pattern] of patterns) {
    pattern.lastIndex = at
    const found = pattern.exec(source)
    if (found !== null) return { kind, text: found[0], at }
  }
  if (source[at] === '"') throw formulaProblem('no closing quote for the text', at)
  throw formulaProblem(`unexpected ${quoteSource(String.fromCodePoint(source.codePointAt(at)!))}`, at)
}
