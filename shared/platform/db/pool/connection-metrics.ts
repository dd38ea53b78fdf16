import { Gauge, type Registry } from 'prom-client'
import type { Cache } from '#shared/platform/db/cache/cache.ts'
import type { Database } from '#shared/platform/db/database.ts'
import type { NotificationListener } from '#shared/platform/db/pool/notification-listener.ts'

/** What holds a process's connections. */
interface Holders {
  readonly database: Database
  readonly cache: Cache
  readonly listener: NotificationListener
}

/**
 * Registers gauges of the process's connections and of what waits for one. The returned function adds what holds connections and returns a
 * function that removes it, to be called when they are closed.
 */
export function registerConnectionGauges(registry: Registry): (holders: Holders) => () => void {
  const open = new Set<Holders>()
  const sum = (of: (holders: Holders) => number) => [...open].reduce((total, holders) => total + of(holders), 0)
  new Gauge({
    name: 'kontor_database_connections',
    help: 'Connections of this process to the database, in the pool by whether they are busy or idle, and those of the cache and of signals',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.set(
        { state: 'busy' },
        sum(({ database: { pool } }) => pool.totalCount - pool.idleCount),
      )
      this.set(
        { state: 'idle' },
        sum(({ database: { pool } }) => pool.idleCount),
      )
      this.set(
        { state: 'cache' },
        sum(({ cache }) => Number(cache.isOpen)),
      )
      this.set(
        { state: 'signals' },
        sum(({ listener }) => Number(listener.isOpen)),
      )
    },
  })
  new Gauge({
    name: 'kontor_database_connections_allowed',
    help: 'The most connections that the pool of this process opens: those that are busy or idle, of kontor_database_connections, are never more',
    registers: [registry],
    collect() {
      this.set(sum(({ database }) => database.pool.options.max))
    },
  })
  new Gauge({
    name: 'kontor_database_waiting',
    help: 'Statements and transactions of this process that wait for a connection',
    registers: [registry],
    collect() {
      this.set(sum(({ database }) => database.waiting))
    },
  })
  return (holders) => {
    open.add(holders)
    return () => void open.delete(holders)
  }
}
