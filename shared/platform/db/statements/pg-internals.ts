import type pg from 'pg'

// Everything that is used of the driver beyond its documentation; a test names the release that it was checked against. `Wire` is there for
// prepared statements whose columns are requested once (docs/decisions/prepared-query.md).

/** Converts a parameter to its wire form. Throws for values without a text form, such as circular objects. */
export { prepareValue } from 'pg/lib/utils.js'

/** The driver's connection (pg-protocol), as a Submittable gets it. */
export interface Wire {
  readonly stream: { cork(): void; uncork(): void; readonly bytesRead: number }
  /** Texts by name of the statements that this connection has prepared or is preparing. */
  readonly parsedStatements: Record<string, string | undefined>
  readonly submittedNamedStatements: Record<string, string | undefined>
  parse(message: { readonly name: string; readonly text: string }): void
  close(message: { readonly type: 'S'; readonly name: string }): void
  bind(message: { readonly statement: string; readonly values: readonly unknown[] }): void
  describe(message: { readonly type: 'P' }): void
  execute(message: { readonly rows?: number }): void
  flush(): void
  sync(): void
}

/** The bytes that a connection has received. */
export const receivedBy = (client: pg.ClientBase): number =>
  (client as unknown as { readonly connection: Wire }).connection.stream.bytesRead
