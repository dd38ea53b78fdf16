import { sql } from '#shared/platform/db/statements/statement.ts'

/** A connection as it is stored. Its secrets are encrypted for the connection's id. */
export interface StoredConnection {
  readonly id: string
  readonly name: string
  readonly host: string
  readonly port: number
  readonly secure: boolean
  readonly username: string
  readonly password: Buffer | null
  readonly from_address: string
  readonly dkim_domain: string | null
  readonly dkim_selector: string | null
  readonly dkim_key: Buffer | null
  readonly status: 'unchecked' | 'ok' | 'failed'
  readonly error: string | null
  readonly checked_at: string | null
  readonly created_at: string
  readonly updated_at: string
}

const columns = `id, name, host, port, secure, username, password, from_address, dkim_domain, dkim_selector, dkim_key, status, error,
  checked_at, created_at, updated_at`

/** All connections of a workspace, oldest first. Values: workspace. */
export const findConnections = sql(
  'find_message_connections',
  `select ${columns} from message_connections where workspace_id = $1 order by created_at, id`,
)

/** One connection. Values: workspace, id. */
export const findConnection = sql(
  'find_message_connection',
  `select ${columns} from message_connections where workspace_id = $1 and id = $2`,
)

/** Reads a connection and locks its row until the transaction ends. Values: workspace, id. */
export const lockConnection = sql(
  'lock_message_connection',
  `select ${columns} from message_connections where workspace_id = $1 and id = $2 for update`,
)

/**
 * Stores a connection. Values: workspace, id, name, host, port, secure, username, password, from, DKIM domain, selector, key, webhook
 * secret, time.
 */
export const insertConnection = sql(
  'insert_message_connection',
  `insert into message_connections (workspace_id, id, name, host, port, secure, username, password, from_address, dkim_domain,
     dkim_selector, dkim_key, webhook_secret, created_at, updated_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14)
   returning ${columns}`,
)

/**
 * Replaces all settings of a connection. Another host, port, `secure`, username or password resets the result of the last test. Values:
 * workspace, id, name, host, port, secure, username, password, from, DKIM domain, selector, key, time.
 */
export const updateConnection = sql(
  'update_message_connection',
  `update message_connections
   set name = $3, host = $4, port = $5, secure = $6, username = $7, password = $8, from_address = $9, dkim_domain = $10,
     dkim_selector = $11, dkim_key = $12, updated_at = $13,
     status = case when (host, port, secure, username, password) is distinct from ($4, $5, $6, $7, $8) then 'unchecked' else status end,
     error = case when (host, port, secure, username, password) is distinct from ($4, $5, $6, $7, $8) then null else error end,
     checked_at = case when (host, port, secure, username, password) is distinct from ($4, $5, $6, $7, $8) then null else checked_at end
   where workspace_id = $1 and id = $2
   returning ${columns}`,
)

/**
 * Saves the result of a test; returns no row when the connection was changed during the test. Values: workspace, id, status, error or null,
 * time, `updated_at` at the start of the test.
 */
export const updateConnectionCheck = sql(
  'note_message_connection_check',
  `update message_connections set status = $3, error = $4, checked_at = $5
   where workspace_id = $1 and id = $2 and updated_at = $6
   returning ${columns}`,
)

/** Deletes a connection. Values: workspace, id. */
export const deleteConnection = sql(
  'delete_message_connection',
  'delete from message_connections where workspace_id = $1 and id = $2 returning id',
)

/**
 * The workspace and the encrypted webhook secret of a connection. A webhook address names no workspace, so all workspaces are searched.
 * Values: id.
 */
export const findWebhook = sql('find_message_webhook', 'select workspace_id, webhook_secret from message_connections where id = $1')
