import type { Executor } from '#shared/platform/db/database.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

/** A person who may join a workspace by a token that was mailed. */
export interface Invitation {
  readonly workspace_id: string
  readonly id: string
  readonly email: string
  readonly role_ids: readonly string[]
  readonly expires_at: string
  readonly created_at: string
}

const columns = 'workspace_id, id, email, role_ids, expires_at, created_at'

const list = sql(
  'list_invitations',
  `select ${columns} from invitations where workspace_id = $1 and expires_at > $2 order by created_at, id`,
)
/** The invitations that can still be accepted, oldest first. */
export const listInvitationRows = (db: Executor, workspaceId: string, now: Date): Promise<Invitation[]> =>
  db.query<Invitation>(list(workspaceId, now))

const find = sql('find_invitation', `select ${columns} from invitations where token_hash = $1 and expires_at > $2`)
export async function findInvitation(db: Executor, tokenHash: Buffer, now: Date): Promise<Invitation | undefined> {
  return (await db.query<Invitation>(find(tokenHash, now)))[0]
}

const write = sql(
  'write_invitation',
  `insert into invitations (workspace_id, id, email, role_ids, invited_by, token_hash, expires_at, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8)
   on conflict (workspace_id, lower(email)) do update
   set id = excluded.id, email = excluded.email, role_ids = excluded.role_ids, invited_by = excluded.invited_by,
     token_hash = excluded.token_hash, expires_at = excluded.expires_at, created_at = excluded.created_at
   where invitations.created_at <= $9 or invitations.expires_at <= $8
   returning ${columns}`,
)
/**
 * Stores an invitation. It replaces an earlier one to the same address, whose token becomes invalid. Undefined, and nothing is changed,
 * when the earlier one has not expired and is younger than `resendBefore`: its mail has just been sent.
 */
export async function upsertInvitation(
  db: Executor,
  workspaceId: string,
  invitation: { id: string; email: string; roleIds: readonly string[]; invitedBy: string | null; tokenHash: Buffer; expiresAt: Date },
  { now, resendBefore }: { readonly now: Date; readonly resendBefore: Date },
): Promise<Invitation | undefined> {
  const { id, email, roleIds, invitedBy, tokenHash, expiresAt } = invitation
  const statement = write(workspaceId, id, email, roleIds, invitedBy, tokenHash, expiresAt, now, resendBefore)
  return (await db.query<Invitation>(statement))[0]
}

const keep = sql(
  'keep_invitation',
  `update invitations set role_ids = coalesce($3, role_ids) where workspace_id = $1 and lower(email) = lower($2) returning ${columns}`,
)
/** The invitation of an address, with its roles replaced if `roleIds` is given; its token stays valid. */
export async function updateInvitationRoles(
  db: Executor,
  workspaceId: string,
  email: string,
  roleIds: readonly string[] | undefined,
): Promise<Invitation | undefined> {
  return (await db.query<Invitation>(keep(workspaceId, email, roleIds)))[0]
}

const use = sql('use_invitation', `delete from invitations where token_hash = $1 and expires_at > $2 returning ${columns}`)
/** Uses up an invitation: of several concurrent calls with one token, one gets it. */
export async function consumeInvitation(db: Executor, tokenHash: Buffer, now: Date): Promise<Invitation | undefined> {
  return (await db.query<Invitation>(use(tokenHash, now)))[0]
}

const remove = sql('delete_invitation', 'delete from invitations where workspace_id = $1 and id = $2 returning id')
export async function deleteInvitation(db: Executor, workspaceId: string, id: string): Promise<boolean> {
  return (await db.query(remove(workspaceId, id))).length > 0
}

const count = sql(
  'count_invitations',
  'select count(*)::integer as invitations from invitations where workspace_id = $1 and expires_at > $2',
)
/** How many invitations can still be accepted. */
export async function countInvitations(db: Executor, workspaceId: string, now: Date): Promise<number> {
  return (await db.query<{ invitations: number }>(count(workspaceId, now)))[0]?.invitations ?? 0
}
