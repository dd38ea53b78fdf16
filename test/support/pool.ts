import pg from 'pg'

/**
 * A pool of a test. `end` resolves before the connections have closed: when their database is dropped then, they end with an error, which
 * would end the thread of the tests.
 */
export function openPool(options: pg.PoolConfig): pg.Pool {
  return new pg.Pool(options).on('error', () => undefined)
}
