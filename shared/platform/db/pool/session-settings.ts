/** Milliseconds that a statement waits for a lock; then its transaction is rolled back (page "Beyond", section 2). */
export const lockTimeoutMs = 3_000

/** Settings of every session, as connection options. The TCP keepalive settings let the database notice a vanished client within a minute; its default is two hours. */
export const sessionSettings = [
  ...['TimeZone=UTC', 'DateStyle=ISO', 'IntervalStyle=iso_8601', 'jit=off'],
  // A statement uses one database process, however much it reads, so that others get CPU too (page "Beyond", section 2).
  'max_parallel_workers_per_gather=0',
  ...['tcp_keepalives_idle=30', 'tcp_keepalives_interval=10', 'tcp_keepalives_count=3'],
]
  .map((setting) => `-c ${setting}`)
  .join(' ')
