import { bytes, instant, integer, type RowOf, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const columns = {
  id: uuid.notNull,
  type: text.as<'user' | 'service'>().notNull,
  name: text.notNull,
  /** Null for a key. */
  email: text,
  /** The workspace of a key; null for a session. */
  workspaceId: uuid,
  /** Null for a key. */
  sessionId: uuid,
  expires_at: instant,
  /** Time from which use renews the session, a day after its last renewal; null for a key. */
  renew_at: instant,
}
export type PrincipalRow = RowOf<typeof columns>

/** A key with its service account. */
export const findKey = statement(
  'people.findKey',
  `select account.id, 'service' as type, account.name, null::text as email, account.workspace_id as "workspaceId",
     null::uuid as "sessionId", key.expires_at, null::timestamptz as renew_at
   from access_keys as key
   join service_accounts as account on account.workspace_id = key.workspace_id and account.id = key.service_account_id
   where key.secret_hash = $hash and key.workspace_id = $scopeId`,
  { params: { hash: bytes, scopeId: uuid }, columns },
)

/** Sessions live this long after they were last renewed (docs/contract/access.md#sessions). */
export const sessionDays = 30

/** A session with its person. */
export const findSession = statement(
  'people.findSession',
  `select person.id, 'user' as type, person.name, person.email, null::uuid as "workspaceId", session.id as "sessionId",
     session.expires_at, session.expires_at - interval '${sessionDays - 1} days' as renew_at
   from sessions as session
   join users as person on person.id = session.user_id
   where session.token_hash = $hash and session.user_id = $scopeId`,
  { params: { hash: bytes, scopeId: uuid }, columns },
)

/** Renews a session that has not expired. */
export const renewSession = statement(
  'people.renewSession',
  `update sessions set expires_at = $now::timestamptz + make_interval(days => $days) where id = $id and expires_at > $now`,
  { params: { id: uuid, now: instant, days: integer } },
)
