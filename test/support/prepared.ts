import type { Statement } from '#shared/platform/db/statements/statement.ts'

/** A prepared statement of a test, with positional parameters: for tests of the database layer, below the declared statements. */
export const prepared =
  <Row>(name: string, text: string) =>
  (...values: readonly unknown[]): Statement<Row> => ({ name, text, values })
