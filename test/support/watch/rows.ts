import pg from 'pg'
import { PreparedQuery } from '#shared/platform/db/statements/prepared-query.ts'
import type { Columns } from '#shared/platform/db/statements/sql-types.ts'

// Compares the rows that Kontor reads with the columns that its statements declare: names and types once for each run that asks for them, and
// nulls in every row. `statements.test.ts` cannot tell nulls of outer joins, of expressions and of statements that are composed for a call.

const complaints = new Set<string>()

/** Contradictions between rows and declared columns since the last call, each once. */
export function takeContradictions(): string[] {
  const taken = [...complaints]
  complaints.clear()
  return taken
}

/** PostgreSQL's names of the types that columns are declared with, where the driver has another name for them. */
const driverNames: Readonly<Record<string, keyof typeof pg.types.builtins>> = {
  boolean: 'BOOL',
  smallint: 'INT2',
  integer: 'INT4',
  bigint: 'INT8',
  real: 'FLOAT4',
  'double precision': 'FLOAT8',
  'timestamp with time zone': 'TIMESTAMPTZ',
  'timestamp without time zone': 'TIMESTAMP',
}
/** Types that the driver does not name. */
const otherTypes: Readonly<Record<string, number>> = {
  void: 2278,
  'uuid[]': 2951,
  'text[]': 1009,
  'boolean[]': 1000,
  'integer[]': 1007,
  'bigint[]': 1016,
}

const typeIdOf = (sqlName: string): number | undefined =>
  otherTypes[sqlName] ?? pg.types.builtins[driverNames[sqlName] ?? (sqlName.toUpperCase() as keyof typeof pg.types.builtins)]

/** What contradicts the declared columns in the description of a statement's rows. */
export function compareDescription(declared: Columns, fields: readonly { readonly name: string; readonly dataTypeID: number }[]): string[] {
  return Object.entries(declared).flatMap(([name, { sqlName }], index) => {
    const field = fields[index]
    if (field?.name !== name) return [`column ${index + 1} is ${field?.name ?? 'missing'}, declared as ${name}`]
    return field.dataTypeID === typeIdOf(sqlName) ? [] : [`${name} has the type ${field.dataTypeID}, declared as ${sqlName}`]
  })
}

/** The declared columns that are null in a row against their declaration. */
export function compareRow(declared: Columns, cells: readonly (string | null)[]): string[] {
  const found: string[] = []
  let index = 0
  // Every row that the suite reads comes here, so nothing is made for a row that is right.
  for (const name in declared) {
    if (cells[index] === null && declared[name]?.isNotNull) found.push(`${name} is null, declared as notNull`)
    index += 1
  }
  return found
}

const { handleRowDescription, handleDataRow } = PreparedQuery.prototype

PreparedQuery.prototype.handleRowDescription = function compared(this: PreparedQuery<unknown>, message) {
  if (this.declared) note(this, compareDescription(this.declared, message.fields))
  handleRowDescription.call(this, message)
}

PreparedQuery.prototype.handleDataRow = function compared(this: PreparedQuery<unknown>, message) {
  const { declared } = this
  if (declared) note(this, compareRow(declared, message.fields))
  handleDataRow.call(this, message)
}

function note({ name, text }: PreparedQuery<unknown>, found: readonly string[]): void {
  for (const one of found) complaints.add(`${name === '' ? text : name}: ${one}`)
}
