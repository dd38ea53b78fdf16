import { Gauge, type Registry } from 'prom-client'
import type { Database } from '#shared/platform/db/database.ts'

/**
 * Adds gauges of the connections of this process: what they do, and how many statements wait for one. Call what it returns with each
 * database that is opened, and what that returns when it is closed.
 */
export function registerConnectionGauges(registry: Registry): (database: Database) => () => void {
  const open = new Set<Database>()
  const sum = (of: (pool: Database['pool']) => number) => [...open].reduce((total, { pool }) => total + of(pool), 0)
  new Gauge({
    name: 'kontor_database_connections',
    help: 'Connections of this process to the database, by whether they are busy or idle',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.set(
        { state: 'busy' },
        sum(({ totalCount, idleCount }) => totalCount - idleCount),
      )
      this.set(
        { state: 'idle' },
        sum(({ idleCount }) => idleCount),
      )
    },
  })
  new Gauge({
    name: 'kontor_database_waiting',
    help: 'Statements and transactions of this process that wait for a connection',
    registers: [registry],
    collect() {
      this.set([...open].reduce((total, { waiting }) => total + waiting, 0))
    },
  })
  return (database) => {
    open.add(database)
    return () => void open.delete(database)
  }
}
