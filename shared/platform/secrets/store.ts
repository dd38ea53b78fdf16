import { bytes, instant, integer, type RowOf, selectList, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { defineSealed } from '#shared/platform/secrets/sealed-store.ts'

const columns = {
  id: uuid.notNull,
  state: text.as<'current' | 'next' | 'retired'>().notNull,
  check_sealed: bytes.notNull,
  since: instant.notNull,
}
const list = selectList(columns)

/** A key of the installation, by what it sealed. */
export type StoredKey = RowOf<typeof columns>

/** Whether the database has the table of keys: a process may start before the migrations. */
export const findKeyTable = statement('secrets.findKeyTable', `select 1 as found where to_regclass('secret_keys') is not null`, {
  params: {},
  columns: { found: integer.notNull },
})

/** Waits while a rotation begins or ends, and lets none begin until the transaction ends. */
export const holdKeys = statement('secrets.holdKeys', 'select id from secret_keys for share', { params: {}, columns: { id: uuid.notNull } })

/** All keys. */
export const findKeys = statement('secrets.findKeys', `select ${list} from secret_keys order by since, id`, { params: {}, columns })

/** All keys, locked until the transaction ends: no process can start meanwhile. */
export const lockKeys = statement('secrets.lockKeys', `select ${list} from secret_keys order by since, id for update`, {
  params: {},
  columns,
})

/** Stores a key, unless there is one in its state. */
export const insertKey = statement(
  'secrets.insertKey',
  'insert into secret_keys (id, state, check_sealed) values ($id, $state, $check) on conflict do nothing',
  { params: { id: uuid, state: text.as<'current' | 'next'>(), check: bytes } },
)

/** Retires the current key. */
export const retireKey = statement(
  'secrets.retireKey',
  `update secret_keys set state = 'retired', link_key_sealed = $linkKey, since = now() where state = 'current' returning id`,
  { params: { linkKey: bytes }, columns: { id: uuid.notNull } },
)

/** Makes the next key the current one. */
export const promoteKey = statement(
  'secrets.promoteKey',
  `update secret_keys set state = 'current', since = now() where state = 'next' returning id`,
  { params: {}, columns: { id: uuid.notNull } },
)

/** Forgets all keys. */
export const deleteKeys = statement('secrets.deleteKeys', 'delete from secret_keys', { params: {} })

/** What verifies links that retired keys signed. */
export const linkKeys = defineSealed({
  table: 'secret_keys',
  column: 'link_key_sealed',
  key: { id: 'uuid' },
  purpose: 'retired link keys',
  place: ['id'],
})

/** The sealed link keys of retired keys, the last retired first. */
export const findLinkKeys = statement(
  'secrets.findLinkKeys',
  'select id, link_key_sealed from secret_keys where link_key_sealed is not null order by since desc, id',
  { params: {}, columns: { id: uuid.notNull, link_key_sealed: bytes } },
)

/**
 * The processes on this database whose connections name another key than `name` (`sessionName`), with their addresses and the number of
 * their connections.
 */
export const findOtherHolders = statement(
  'secrets.findOtherHolders',
  `select application_name as process, coalesce(host(client_addr), 'this machine') as host, count(*)::integer as connections
   from pg_stat_activity
   where datname = current_database() and application_name ~ '^kontor .* [0-9a-f]{8}$' and right(application_name, 8) <> $name
   group by 1, 2 order by 1, 2`,
  { params: { name: text }, columns: { process: text, host: text, connections: integer } },
)
