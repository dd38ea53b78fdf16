import type { DeclaredStatement } from '#shared/platform/db/statements/statement.ts'
import type { StatementDescription } from '#test/support/describe-statement.ts'

/** A statement in which a column may be null although it is not null in its table. */
const addsNulls = /\b(?:left|right|full)\s+(?:outer\s+)?join\b|\bgrouping\s+sets\b|\brollup\b|\bcube\b/i

/** Returns the contradictions between a declaration and PostgreSQL's description of the statement. */
export function contradictions({ name, text, params, columns = {} }: DeclaredStatement, described: StatementDescription): string[] {
  const found: string[] = []
  for (const [index, [param, { sqlName }]] of Object.entries(params).entries()) {
    const type = described.params[index]
    if (type !== sqlName) found.push(`the parameter ${param} has the type ${type}, declared as ${sqlName}`)
  }
  for (const [index, [column, { sqlName, isNotNull }]] of Object.entries(columns).entries()) {
    const real = described.columns[index]
    if (real?.name !== column) found.push(`column ${index + 1} is ${real?.name ?? 'missing'}, declared as ${column}`)
    else if (real.type !== sqlName) found.push(`the column ${column} has the type ${real.type}, declared as ${sqlName}`)
    else if (isNotNull && real.isNullable === true && !addsNulls.test(text))
      found.push(`the column ${column} may be null, declared as notNull`)
  }
  const undeclared = described.columns.slice(Object.keys(columns).length).map(({ name }) => name)
  if (undeclared.length > 0) found.push(`the columns ${undeclared.join(', ')} are not declared`)
  return found.map((one) => `${name}: ${one}`)
}
