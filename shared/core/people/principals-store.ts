import { sql } from '#shared/platform/db/statements/statement.ts'

/** A key with its service account. Values: hash, workspace. */
export const findKey = sql(
  'find_key',
  `select account.id, 'service' as type, account.name, null as email, account.workspace_id as "workspaceId", null as "sessionId",
     key.expires_at, null as renew_at
   from access_keys as key
   join service_accounts as account on account.workspace_id = key.workspace_id and account.id = key.service_account_id
   where key.secret_hash = $1 and key.workspace_id = $2`,
)

/** Sessions live this long after they were last renewed (decisions, People, keys, workspaces). */
export const sessionDays = 30

/** A session with its person. Values: hash, person. */
export const findSession = sql(
  'find_session',
  `select person.id, 'user' as type, person.name, person.email, null as "workspaceId", session.id as "sessionId",
     session.expires_at, session.expires_at - interval '${sessionDays - 1} days' as renew_at
   from sessions as session
   join users as person on person.id = session.user_id
   where session.token_hash = $1 and session.user_id = $2`,
)

/** Renews a session that has not expired. Values: id, now, days. */
export const renewSession = sql(
  'renew_session',
  `update sessions set expires_at = $2::timestamptz + make_interval(days => $3) where id = $1 and expires_at > $2`,
)
