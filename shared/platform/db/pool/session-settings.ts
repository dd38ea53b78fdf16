/** Milliseconds that a statement waits for a lock; then its transaction is rolled back (page "Beyond", section 2). */
export const lockTimeoutMs = 3_000

/** Settings of every session, as the options of a connection. The last three let the database notice within a minute that we are gone without a word: its own default is two hours. */
export const sessionSettings = [
  ...['TimeZone=UTC', 'DateStyle=ISO', 'IntervalStyle=iso_8601', 'jit=off'],
  // A statement has one process of the database's, however much it reads: others come too (page "Beyond", section 2).
  'max_parallel_workers_per_gather=0',
  ...['tcp_keepalives_idle=30', 'tcp_keepalives_interval=10', 'tcp_keepalives_count=3'],
]
  .map((setting) => `-c ${setting}`)
  .join(' ')
