import knex, { type Knex } from 'knex'

/** knex as a builder of SQL text only: it holds no connection. `prepareStatement` and `buildStatement` make statements of its queries. */
export const builder: Knex = knex({ client: 'pg' })
export type { Knex }

/** Joins conditions by `and`, in parentheses; a single condition stays as it is. */
export const joinWithAnd = (parts: readonly Knex.Raw[]): Knex.Raw => join(parts, ' and ')

/** Joins conditions by `or`, in parentheses; a single condition stays as it is. */
export const joinWithOr = (parts: readonly Knex.Raw[]): Knex.Raw => join(parts, ' or ')

function join(parts: readonly Knex.Raw[], word: string): Knex.Raw {
  const [first, ...others] = parts
  return first && others.length === 0 ? first : builder.raw(`(${parts.map(() => '?').join(word)})`, [...parts])
}
