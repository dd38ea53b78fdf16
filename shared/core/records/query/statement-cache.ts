import type { Knex } from '#shared/platform/db/statements/builder.ts'
import { asUnprepared, prepareStatement, type StatementTemplate } from '#shared/platform/db/statements/statement.ts'

/** A statement that this process has built for a search, for the next one of its shape. */
interface Kept {
  readonly fill: StatementTemplate
  /** Characters of its text. */
  readonly length: number
  uses: number
}

/**
 * Characters of text that a process keeps of searches, those that have rested longest make room. Callers think of searches without end:
 * each caller's conditions, filters and order make a statement of their own.
 */
const maxLength = 2_000_000

/**
 * From this use on a search is prepared. PostgreSQL keeps a prepared statement on every connection that has run it, and plans it five
 * times before it keeps a plan: what is rare costs memory there and saves nothing.
 */
export const usesBeforePrepared = 10

let keptLength = 0
const kept = new Map<string, Kept>()

const numbers = new WeakMap<object, number>()
let lastNumber = 0

/** A number for a picture, another one for each as long as the process lives. */
function numberOf(picture: object): number {
  const known = numbers.get(picture)
  if (known !== undefined) return known
  lastNumber += 1
  numbers.set(picture, lastNumber)
  return lastNumber
}

/**
 * The statement of a search, built once per picture (an access to a type) and shape as long as it is used. It is prepared once the shape has
 * been asked for often; until then it is planned for its values each time.
 */
export function cachedSearchStatement(picture: object, shape: string, make: () => Knex.QueryBuilder | Knex.Raw): StatementTemplate {
  const key = `${numberOf(picture)} ${shape}`
  const found = kept.get(key)
  if (found) {
    // The map's order is that of use.
    kept.delete(key)
    kept.set(key, found)
    found.uses += 1
    return found.uses < usesBeforePrepared ? unprepared(found.fill) : found.fill
  }
  const fill = prepareStatement(make())
  const length = key.length + fill().text.length
  kept.set(key, { fill, length, uses: 1 })
  keptLength += length
  for (const [oldest, { length }] of kept) {
    if (keptLength <= maxLength) break
    kept.delete(oldest)
    keptLength -= length
  }
  return unprepared(fill)
}

const unprepared =
  (fill: StatementTemplate): StatementTemplate =>
  (slots) =>
    asUnprepared(fill(slots))
