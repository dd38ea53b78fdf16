import { type Problem, problem } from '#shared/platform/kernel/errors.ts'
import { editDistance } from '#shared/platform/kernel/similar-names.ts'

/**
 * The VALIDATION_ERROR of a formula that cannot be saved: the fault, its position (`at` counts from 0, the message from 1) and an optional
 * hint.
 */
export const formulaProblem = (fault: string, at?: number, hint = ''): Problem =>
  problem('VALIDATION_ERROR', `formula: ${fault}${at === undefined ? '' : ` at position ${at + 1}`}${hint}`)

/** Maximum characters of the source that a message quotes. */
const maxQuoted = 40

/** Quotes a part of the source for a message: in double quotes, cut after `maxQuoted` characters. */
export function quoteSource(text: string): string {
  const characters = Array.from(text)
  return characters.length > maxQuoted ? `"${characters.slice(0, maxQuoted).join('')}…"` : `"${text}"`
}

/** Longest name, in characters, that is compared with the known names; a suggested name differs by fewer edits than the second figure. */
const [maxComparedLength, tooManyEdits] = [64, 3]

/** Returns `; did you mean "total"?` when a known name is close to the unknown one, else an empty text. */
export function suggestName(unknown: string, names: Iterable<string>): string {
  let nearest = ''
  let best = Math.min(tooManyEdits, Math.ceil(unknown.length / 2))
  for (const name of unknown.length > maxComparedLength ? [] : names) {
    const distance = Math.abs(name.length - unknown.length) < best ? editDistance(unknown.toLowerCase(), name.toLowerCase()) : best
    if (distance < best) [nearest, best] = [name, distance]
  }
  return nearest === '' ? '' : `; did you mean ${quoteSource(nearest)}?`
}
