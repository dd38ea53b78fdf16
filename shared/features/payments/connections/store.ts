import type { ProviderName } from '#shared/features/payments/connections/schemas.ts'
import { bigint, bytes, instant, type RowOf, selectList, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { defineSealed } from '#shared/platform/secrets/sealed-store.ts'

type Mode = 'live' | 'test'
type ConnectionStatus = 'unchecked' | 'ok' | 'failed'

const columns = {
  workspace_id: uuid.notNull,
  id: uuid.notNull,
  provider: text.as<ProviderName>().notNull,
  name: text.notNull,
  mode: text.as<Mode>().notNull,
  redirect_url: text,
  /** Encrypted; null once they were deleted. */
  credentials: bytes,
  status: text.as<ConnectionStatus>().notNull,
  last_checked_at: instant,
  last_error: text,
  created_at: instant.notNull,
  deleted_at: instant,
}
const list = selectList(columns)

/** A stored connection. */
export type StoredConnection = RowOf<typeof columns>

/** The credentials of connections, as JSON. */
export const sealedCredentials = defineSealed({
  table: 'payment_connections',
  column: 'credentials',
  key: { workspace_id: 'uuid', id: 'uuid' },
  purpose: 'payment credentials',
  place: ['workspace_id', 'id'],
})

/** The connections of a workspace, oldest first. */
export const findConnections = statement(
  'payments.findConnections',
  `select ${list} from payment_connections where workspace_id = $workspaceId and deleted_at is null order by created_at, id`,
  { params: { workspaceId: uuid }, columns },
)

/** A connection by id, also a deleted one. */
export const selectConnection = statement(
  'payments.selectConnection',
  `select ${list} from payment_connections where workspace_id = $workspaceId and id = $id`,
  { params: { workspaceId: uuid, id: uuid }, columns },
)

/** The connection of a webhook address, which names no workspace, so all workspaces are searched. */
export const findWebhookConnection = statement(
  'payments.findWebhookConnection',
  `select ${list} from payment_connections where id = $id and deleted_at is null order by workspace_id limit 1`,
  { params: { id: uuid }, columns },
)

/** Stores a connection; returns no row when the workspace already has `maxConnections`. */
export const insertConnection = statement(
  'payments.insertConnection',
  `insert into payment_connections (workspace_id, id, provider, name, mode, redirect_url, credentials, created_at)
   select $workspaceId, $id, $provider, $name, $mode, $redirectUrl, $credentials, $createdAt
   where (select count(*) from payment_connections where workspace_id = $workspaceId and deleted_at is null) < $maxConnections
   returning ${list}`,
  {
    params: {
      workspaceId: uuid,
      id: uuid,
      provider: text.as<ProviderName>(),
      name: text,
      mode: text.as<Mode>(),
      redirectUrl: text.orNull,
      credentials: bytes,
      createdAt: instant,
      maxConnections: bigint,
    },
    columns,
  },
)

/** Reads a connection that is not deleted and locks its row until the transaction ends. */
export const lockConnection = statement(
  'payments.lockConnection',
  `select ${list} from payment_connections where workspace_id = $workspaceId and id = $id and deleted_at is null for no key update`,
  { params: { workspaceId: uuid, id: uuid }, columns },
)

/** Changes a connection locked by `lockConnection`. */
export const updateConnection = statement(
  'payments.updateConnection',
  `update payment_connections set name = $name, mode = $mode, redirect_url = $redirectUrl, credentials = $credentials, status = $status,
     last_error = case when $status = 'unchecked' then null else last_error end
   where workspace_id = $workspaceId and id = $id returning ${list}`,
  {
    params: {
      workspaceId: uuid,
      id: uuid,
      name: text,
      mode: text.as<Mode>(),
      redirectUrl: text.orNull,
      credentials: bytes.orNull,
      status: text.as<ConnectionStatus>(),
    },
    columns,
  },
)

/** Saves the result of a test; returns no row when the credentials were changed or the connection was deleted meanwhile. */
export const saveCheck = statement(
  'payments.saveCheck',
  `update payment_connections set status = $status, last_checked_at = $checkedAt, last_error = $error
   where workspace_id = $workspaceId and id = $id and deleted_at is null and credentials = $testedCredentials returning ${list}`,
  {
    params: {
      workspaceId: uuid,
      id: uuid,
      status: text.as<ConnectionStatus>(),
      checkedAt: instant,
      error: text.orNull,
      /** Encrypted, as they were stored when the test began. */
      testedCredentials: bytes.orNull,
    },
    columns,
  },
)

/** Marks a connection as deleted; its row stays for the work that is left at its provider. */
export const hideConnection = statement(
  'payments.hideConnection',
  `update payment_connections set deleted_at = $deletedAt
   where workspace_id = $workspaceId and id = $id and deleted_at is null returning id`,
  { params: { workspaceId: uuid, id: uuid, deletedAt: instant }, columns: { id: uuid.notNull } },
)

/** Deletes the credentials of a deleted connection. */
export const forgetCredentials = statement(
  'payments.forgetCredentials',
  'update payment_connections set credentials = null where workspace_id = $workspaceId and id = $id and deleted_at is not null',
  { params: { workspaceId: uuid, id: uuid } },
)

/** The time up to which a connection's provider was asked for events; no row before the first sweep. */
export const findSweep = statement(
  'payments.findSweep',
  'select polled_until from payment_sweeps where workspace_id = $workspaceId and connection_id = $connectionId',
  { params: { workspaceId: uuid, connectionId: uuid }, columns: { polled_until: instant.notNull } },
)

/** Saves the time up to which the provider was asked for events; a time before the saved one changes nothing. */
export const saveSweep = statement(
  'payments.saveSweep',
  `insert into payment_sweeps as sweep (workspace_id, connection_id, polled_until) values ($workspaceId, $connectionId, $askedUntil)
   on conflict (workspace_id, connection_id) do update set polled_until = greatest(sweep.polled_until, excluded.polled_until)`,
  { params: { workspaceId: uuid, connectionId: uuid, askedUntil: instant } },
)
