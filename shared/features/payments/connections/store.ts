import type { ProviderName } from '#shared/features/payments/connections/schemas.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

/** A connection as it is stored, with encrypted credentials. */
export interface StoredConnection {
  readonly workspace_id: string
  readonly id: string
  readonly provider: ProviderName
  readonly name: string
  readonly mode: 'live' | 'test'
  readonly redirect_url: string | null
  readonly credentials: Buffer | null
  readonly status: 'unchecked' | 'ok' | 'failed'
  readonly last_checked_at: string | null
  readonly last_error: string | null
  readonly created_at: string
  readonly deleted_at: string | null
}

const columns = `workspace_id, id, provider, name, mode, redirect_url, credentials, status, last_checked_at, last_error, created_at,
  deleted_at`

/** The connections of a workspace, oldest first. Values: workspace. */
export const findConnections = sql(
  'find_payment_connections',
  `select ${columns} from payment_connections where workspace_id = $1 and deleted_at is null order by created_at, id`,
)

/** A connection by id, also a deleted one. Values: workspace, id. */
export const selectConnection = sql(
  'find_payment_connection',
  `select ${columns} from payment_connections where workspace_id = $1 and id = $2`,
)

/** The connection of a webhook address, which names no workspace, so all workspaces are searched. Values: id. */
export const findWebhookConnection = sql(
  'find_hooked_connection',
  `select ${columns} from payment_connections where id = $1 and deleted_at is null order by workspace_id limit 1`,
)

/**
 * Stores a connection; returns no row when the workspace already has the maximum. Values: workspace, id, provider, name, mode, redirect
 * address, credentials, time, maximum.
 */
export const insertConnection = sql(
  'insert_payment_connection',
  `insert into payment_connections (workspace_id, id, provider, name, mode, redirect_url, credentials, created_at)
   select $1, $2, $3, $4, $5, $6, $7, $8
   where (select count(*) from payment_connections where workspace_id = $1 and deleted_at is null) < $9
   returning ${columns}`,
)

/** Reads a connection that is not deleted and locks its row until the transaction ends. Values: workspace, id. */
export const lockConnection = sql(
  'lock_payment_connection',
  `select ${columns} from payment_connections where workspace_id = $1 and id = $2 and deleted_at is null for no key update`,
)

/** Changes a connection locked by `lockConnection`. Values: workspace, id, name, mode, redirect address, credentials, status. */
export const updateConnection = sql(
  'update_payment_connection',
  `update payment_connections set name = $3, mode = $4, redirect_url = $5, credentials = $6, status = $7,
     last_error = case when $7 = 'unchecked' then null else last_error end
   where workspace_id = $1 and id = $2 returning ${columns}`,
)

/**
 * Saves the result of a test; returns no row when the credentials were changed or the connection was deleted meanwhile. Values: workspace,
 * id, status, time, error message or null, the tested credentials (encrypted).
 */
export const saveCheck = sql(
  'note_payment_connection_check',
  `update payment_connections set status = $3, last_checked_at = $4, last_error = $5
   where workspace_id = $1 and id = $2 and deleted_at is null and credentials = $6 returning ${columns}`,
)

/** Marks a connection as deleted; its row stays for the work that is left at its provider. Values: workspace, id, time. */
export const hideConnection = sql(
  'hide_payment_connection',
  'update payment_connections set deleted_at = $3 where workspace_id = $1 and id = $2 and deleted_at is null returning id',
)

/** Deletes the credentials of a deleted connection. Values: workspace, id. */
export const forgetCredentials = sql(
  'forget_payment_credentials',
  'update payment_connections set credentials = null where workspace_id = $1 and id = $2 and deleted_at is not null',
)

/** The time up to which a connection's provider was asked for events; no row before the first sweep. Values: workspace, connection. */
export const findSweep = sql('find_payment_sweep', 'select asked_until from payment_sweeps where workspace_id = $1 and connection_id = $2')

/**
 * Saves the time up to which the provider was asked for events; a time before the saved one changes nothing. Values: workspace, connection,
 * time.
 */
export const saveSweep = sql(
  'note_payment_sweep',
  `insert into payment_sweeps as sweep (workspace_id, connection_id, asked_until) values ($1, $2, $3)
   on conflict (workspace_id, connection_id) do update set asked_until = greatest(sweep.asked_until, excluded.asked_until)`,
)
