import type { Db } from '#test/support/rows.ts'

/** Adds invitations that a workspace has mailed. */
export async function addSentInvitations(db: Db, workspaceId: string, count: number): Promise<void> {
  await db.query(
    `insert into outbox_mails (id, workspace_id, kind, recipient, subject, body_text, status)
     select gen_random_uuid(), $1, 'invitation', number || '@example.com', '', '', 'sent' from generate_series(1, $2) as number`,
    [workspaceId, count],
  )
}

/** Makes invitations so many seconds older: those of a workspace, or those to an address. */
export async function ageInvitations(db: Db, of: { workspaceId: string } | { email: string }, seconds: number): Promise<void> {
  const older = "update invitations set created_at = created_at - $2 * interval '1 second'"
  if ('email' in of) await db.query(`${older} where email ilike $1`, [of.email, seconds])
  else await db.query(`${older} where workspace_id = $1`, [of.workspaceId, seconds])
}

/** Makes the mails of these workspaces 25 hours old. */
export async function ageMails(db: Db, workspaceIds: readonly string[]): Promise<void> {
  await db.query(`update outbox_mails set created_at = now() - interval '25 hours' where workspace_id = any($1)`, [workspaceIds])
}

/** The number of calendars, feeds, events and drives that are left of a person and its calendar. */
export async function countPersonalThings(db: Db, userId: string, calendarId: string): Promise<number> {
  const { rowCount } = await db.query(
    `select id from calendars where owner_id = $1 union all select id from drive_spaces where owner_id = $1
     union all select id from calendar_events where calendar_id = $2 union all select calendar_id from calendar_feeds where calendar_id = $2`,
    [userId, calendarId],
  )
  return rowCount ?? 0
}

/** The number of accounts with one of these addresses. */
export async function countUsers(db: Db, emails: readonly string[]): Promise<number> {
  return (await db.query('select from users where email = any($1)', [emails])).rowCount ?? 0
}

/** Makes a workspace's invitations expire now, all or those to an address. */
export async function expireInvitations(db: Db, workspaceId: string, email?: string): Promise<void> {
  const statement = 'update invitations set expires_at = now() where workspace_id = $1 and email = coalesce($2, email)'
  await db.query(statement, [workspaceId, email ?? null])
}

/** A workspace's access keys, with every column. */
export async function readAccessKeys(db: Db, workspaceId: string): Promise<Record<string, unknown>[]> {
  return (await db.query('select * from access_keys where workspace_id = $1', [workspaceId])).rows
}

/** A workspace's invitations, with every column. */
export async function readInvitations(db: Db, workspaceId: string): Promise<Record<string, unknown>[]> {
  return (await db.query('select * from invitations where workspace_id = $1', [workspaceId])).rows
}

/** Makes the workspaces of an owner so many seconds older. */
export async function ageWorkspaces(db: Db, ownerId: string, seconds: number): Promise<void> {
  await db.query(`update workspaces set created_at = created_at - $2 * interval '1 second' where owner_id = $1`, [ownerId, seconds])
}

/** The shares of an owner's workspaces, oldest first. */
export async function readShares(db: Db, ownerId: string): Promise<string[]> {
  const { rows } = await db.query<{ share_id: string }>('select share_id from workspaces where owner_id = $1 order by created_at, id', [
    ownerId,
  ])
  return rows.map(({ share_id }) => share_id)
}
