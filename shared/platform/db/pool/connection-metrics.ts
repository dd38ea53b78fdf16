import { Gauge, type Registry } from 'prom-client'
import type { Database } from '#shared/platform/db/database.ts'

/**
 * Registers gauges of the process's busy, idle and awaited connections. The returned function adds a database to the gauges and returns a
 * function that removes it, to be called when the database is closed.
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
