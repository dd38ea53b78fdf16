import type { ConnectionView } from '#shared/features/messages/connections/schemas.ts'
import {
  boolean,
  bytes,
  instant,
  integer,
  type ParamsOf,
  type RowOf,
  selectList,
  text,
  uuid,
} from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { defineSealed } from '#shared/platform/secrets/sealed-store.ts'

const status = text.as<ConnectionView['status']>()

const columns = {
  id: uuid.notNull,
  name: text.notNull,
  host: text.notNull,
  port: integer.notNull,
  secure: boolean.notNull,
  username: text.notNull,
  password: bytes,
  from_address: text.notNull,
  dkim_domain: text,
  dkim_selector: text,
  dkim_key: bytes,
  status: status.notNull,
  error: text,
  checked_at: instant,
  created_at: instant.notNull,
  updated_at: instant.notNull,
}
const list = selectList(columns)

/** A connection as it is stored. Its secrets are encrypted for the connection's id. */
export type StoredConnection = RowOf<typeof columns>

const sealedColumn = (column: string, suffix: string) =>
  defineSealed({
    table: 'message_connections',
    column,
    key: { workspace_id: 'uuid', id: 'uuid' },
    purpose: 'message connections',
    place: ['id'],
    suffix,
  })

/** The secrets of connections. */
export const connectionSecrets = {
  password: sealedColumn('password', 'password'),
  dkim: sealedColumn('dkim_key', 'dkim'),
  webhook: sealedColumn('webhook_secret', 'webhook'),
}

/** All connections of a workspace, oldest first. */
export const findConnections = statement(
  'messages.findConnections',
  `select ${list} from message_connections where workspace_id = $workspaceId order by created_at, id`,
  { params: { workspaceId: uuid }, columns },
)

/** One connection. */
export const findConnection = statement(
  'messages.findConnection',
  `select ${list} from message_connections where workspace_id = $workspaceId and id = $id`,
  { params: { workspaceId: uuid, id: uuid }, columns },
)

/** Reads a connection and locks its row until the transaction ends. */
export const lockConnection = statement(
  'messages.lockConnection',
  `select ${list} from message_connections where workspace_id = $workspaceId and id = $id for update`,
  { params: { workspaceId: uuid, id: uuid }, columns },
)

const settings = {
  name: text,
  host: text,
  port: integer,
  secure: boolean,
  username: text,
  password: bytes.orNull,
  fromAddress: text,
  dkimDomain: text.orNull,
  dkimSelector: text.orNull,
  dkimKey: bytes.orNull,
}

/** The settings of a connection, to be stored. */
export type ConnectionSettings = ParamsOf<typeof settings>

/** Inserts a connection. */
export const insertConnection = statement(
  'messages.insertConnection',
  `insert into message_connections (
     workspace_id, id, name, host, port, secure, username, password, from_address,
     dkim_domain, dkim_selector, dkim_key, webhook_secret, created_at, updated_at
   )
   values (
     $workspaceId, $id, $name, $host, $port, $secure, $username, $password, $fromAddress,
     $dkimDomain, $dkimSelector, $dkimKey, $webhookSecret, $now, $now
   )
   returning ${list}`,
  { params: { workspaceId: uuid, id: uuid, ...settings, webhookSecret: bytes, now: instant }, columns },
)

const isServerChanged = '(host, port, secure, username, password) is distinct from ($host, $port, $secure, $username, $password)'

/** Replaces all settings of a connection. Another host, port, `secure`, username or password resets the result of the last test. */
export const updateConnection = statement(
  'messages.updateConnection',
  `update message_connections
   set name = $name, host = $host, port = $port, secure = $secure, username = $username, password = $password,
     from_address = $fromAddress, dkim_domain = $dkimDomain, dkim_selector = $dkimSelector, dkim_key = $dkimKey, updated_at = $now,
     status = case when ${isServerChanged} then 'unchecked' else status end,
     error = case when ${isServerChanged} then null else error end,
     checked_at = case when ${isServerChanged} then null else checked_at end
   where workspace_id = $workspaceId and id = $id
   returning ${list}`,
  { params: { workspaceId: uuid, id: uuid, ...settings, now: instant }, columns },
)

/** Saves the result of a test; returns no row when the connection was changed since `testedVersion`, its `updated_at` at the start. */
export const updateConnectionCheck = statement(
  'messages.updateConnectionCheck',
  `update message_connections set status = $status, error = $error, checked_at = $checkedAt
   where workspace_id = $workspaceId and id = $id and updated_at = $testedVersion
   returning ${list}`,
  {
    params: { workspaceId: uuid, id: uuid, status, error: text.orNull, checkedAt: instant, testedVersion: instant },
    columns,
  },
)

/** Deletes a connection. */
export const deleteConnection = statement(
  'messages.deleteConnection',
  'delete from message_connections where workspace_id = $workspaceId and id = $id returning id',
  { params: { workspaceId: uuid, id: uuid }, columns: { id: uuid.notNull } },
)

/** The workspace and the encrypted webhook secret of a connection. A webhook address names no workspace, so all workspaces are searched. */
export const findWebhook = statement(
  'messages.findWebhook',
  'select workspace_id, webhook_secret from message_connections where id = $id',
  { params: { id: uuid }, columns: { workspace_id: uuid.notNull, webhook_secret: bytes.notNull } },
)
