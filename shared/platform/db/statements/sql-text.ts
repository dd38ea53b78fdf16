import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'

/**
 * A part of a statement: its text, with a `?` for each of its values. Parts nest at the cost of joining texts; knex parses and copies every
 * nested `raw` at each level, which takes seconds for ten thousand conditions.
 */
export interface SqlText {
  readonly text: string
  readonly values: readonly Knex.Value[]
}

const noValues: readonly Knex.Value[] = []

/** SQL without values. The text must be a constant or the result of `nameSql`, never something a caller sent. */
export const plainSql = (text: string): SqlText => ({ text, values: noValues })

/** A value of a statement. A list is one value, an array. */
export const valueSql = (value: Knex.Value | readonly Knex.Value[]): SqlText => ({ text: '?', values: [value as Knex.Value] })

/** A quoted name, such as of a column. Names of more than one part are joined by dots. No part may have a question mark. */
export const nameSql = (...parts: readonly string[]): SqlText => plainSql(parts.map((part) => `"${part.replaceAll('"', '""')}"`).join('.'))

/** SQL of a template whose expressions are other parts: sql`${name} is not null and ${test}`. */
export function sql(texts: TemplateStringsArray, ...parts: readonly SqlText[]): SqlText {
  let text = texts[0] ?? ''
  let values = noValues
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] ?? plainSql('')
    text += part.text + (texts[index + 1] ?? '')
    if (part.values.length > 0) values = values.length === 0 ? part.values : [...values, ...part.values]
  }
  return { text, values }
}

/** Joins conditions by `and` or `or`, in parentheses; a single condition stays as it is. */
export function joinSql(parts: readonly SqlText[], word: 'and' | 'or'): SqlText {
  const [first, ...others] = parts
  if (first && others.length === 0) return first
  return { text: `(${parts.map(({ text }) => text).join(` ${word} `)})`, values: parts.flatMap(({ values }) => values) }
}

/** The part as a raw part of knex, for its query builder. */
export const toRaw = ({ text, values }: SqlText): Knex.Raw => builder.raw(text, values as Knex.RawBinding[])
