/** The role that may sign in over the network, and the name of its database. */
export const roleName = 'kontor'

/** Settings of a server. */
export type Profile = {
  /** The database named in its address. */
  readonly database: string
  readonly isSuperuser: boolean
  /** Whether the files of a new cluster are synced to disk. */
  readonly isSynced: boolean
  readonly settings: readonly string[]
  /** 'fast' ends sessions and writes a checkpoint; 'immediate' leaves recovery to the next start. */
  readonly shutdown: 'fast' | 'immediate'
}

/** Keeps every acknowledged write, even after SIGKILL. */
export const durableProfile: Profile = {
  database: roleName,
  isSuperuser: false,
  isSynced: true,
  settings: ['max_connections=200'],
  shutdown: 'fast',
}

// The data of a crashed test server is never used. Tests create and drop many databases with many pools.
/** For tests: fast, without durability, with a superuser. */
export const temporaryProfile: Profile = {
  database: 'postgres',
  isSuperuser: true,
  isSynced: false,
  settings: [
    'fsync=off',
    'synchronous_commit=off',
    'full_page_writes=off',
    'wal_level=minimal',
    'max_wal_senders=0',
    'max_connections=1000',
  ],
  shutdown: 'immediate',
}
