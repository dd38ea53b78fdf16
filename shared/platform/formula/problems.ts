import { type Problem, problem } from '#shared/platform/kernel/errors.ts'

/** The problem of a formula that cannot be saved: 400 VALIDATION_ERROR that says what is wrong, where (counted from 1), and what may help. */
export const formulaProblem = (what: string, at?: number, help = ''): Problem =>
  problem('VALIDATION_ERROR', `formula: ${what}${at === undefined ? '' : ` at position ${at + 1}`}${help}`)

/** A part of the source as messages show it: in double quotes, cut after 40 characters. */
export function quoteSource(text: string): string {
  const characters = Array.from(text)
  return characters.length > 40 ? `"${characters.slice(0, 40).join('')}…"` : `"${text}"`
}

/** `; did you mean "total"?` when a name close to the unknown one exists, else nothing. */
export function suggestName(unknown: string, names: Iterable<string>): string {
  let nearest = ''
  let best = Math.min(3, Math.ceil(unknown.length / 2))
  for (const name of unknown.length > 64 ? [] : names) {
    const distance = Math.abs(name.length - unknown.length) < best ? editDistance(unknown.toLowerCase(), name.toLowerCase()) : best
    if (distance < best) [nearest, best] = [name, distance]
  }
  return nearest === '' ? '' : `; did you mean ${quoteSource(nearest)}?`
}

/** Letters to insert, drop or replace to make one text of the other (Levenshtein). */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= to.length; j += 1) {
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + Number(from[i - 1] !== to[j - 1])))
    }
    row = next
  }
  return row[to.length]!
}
