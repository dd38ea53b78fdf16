/** The account that may sign in over the network, and the database that it owns. */
export const roleName = 'kontor'

/** How a server is made and run. */
export type Profile = {
  /** The database that its address names. */
  readonly database: string
  readonly isSuperuser: boolean
  /** Whether the files of a new cluster are written through to the disk before it counts as made. */
  readonly isSynced: boolean
  readonly settings: readonly string[]
  /** 'fast' ends the sessions and writes everything out, 'immediate' leaves that to the next start. */
  readonly shutdown: 'fast' | 'immediate'
}

/** Keeps every acknowledged write, whatever is killed. */
export const durableProfile: Profile = {
  database: roleName,
  isSuperuser: false,
  isSynced: true,
  settings: ['max_connections=200'],
  shutdown: 'fast',
}

// What a crash would lose is thrown away in any case. Tests make and drop many databases with many pools.
/** For tests: quick and forgetful, with the right to make databases and anything else. */
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
