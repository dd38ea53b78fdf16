import knex, { type Knex } from 'knex'

/** knex as a builder of SQL text only: it holds no connection. Statements run on the pool through `prepare` and `query`. */
export const builder: Knex = knex({ client: 'pg' })
export type { Knex }
