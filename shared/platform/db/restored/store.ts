import { boolean, instant } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

/**
 * Identifies this copy of the database: the cluster, its timeline, which a recovery to a point in time increases, and the table itself, which
 * restoring a dump creates again.
 */
const copyIdentity = `(select system_identifier from pg_control_system()) || '/' ||
  substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) || '/' || 'restored_copy'::regclass::oid`

/** Whether this copy of the database may call nobody yet. */
export const findHold = statement('db.findHold', 'select exists (select from restored_copy where live_at is null) as is_held', {
  params: {},
  columns: { is_held: boolean.notNull },
})

/** Whether the database has been migrated so far that it can be marked. */
export const hasRestoredCopies = statement('db.hasRestoredCopies', `select to_regclass('restored_copy') is not null as is_there`, {
  params: {},
  columns: { is_there: boolean.notNull },
})

/** Whether this very copy has been marked as restored, live or not. */
export const findMark = statement(
  'db.findMark',
  `select exists (select from restored_copy where identity = ${copyIdentity}) as is_marked`,
  { params: {}, columns: { is_marked: boolean.notNull } },
)

/** Marks this copy as restored and not live. */
export const markRestored = statement(
  'db.markRestored',
  `insert into restored_copy (identity) values (${copyIdentity})
   on conflict (is_only) do update set identity = excluded.identity, restored_at = now(), live_at = null
   returning restored_at`,
  { params: {}, columns: { restored_at: instant.notNull } },
)

/** Lets a marked copy call again; no row where this copy was not marked. Repeating it keeps the first instant. */
export const markLive = statement(
  'db.markLive',
  `update restored_copy set live_at = coalesce(live_at, now()) where identity = ${copyIdentity} returning restored_at`,
  { params: {}, columns: { restored_at: instant.notNull } },
)
