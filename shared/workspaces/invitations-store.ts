import type { Executor } from '#shared/db/database.ts'
import { sql } from '#shared/db/statement.ts'

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
  `insert into invitations (workspace_id, id, email, role_ids, invited_by, token_hash, expires_at) values ($1, $2, $3, $4, $5, $6, $7)
   on conflict (workspace_id, lower(email)) do update
   set id = excluded.id, email = excluded.email, role_ids = excluded.role_ids, invited_by = excluded.invited_by,
     token_hash = excluded.token_hash, expires_at = excluded.expires_at, created_at = now()
   returning ${columns}`,
)
/** Keeps an invitation in place of an earlier one to the same address, whose token is dead then. */
export async function writeInvitation(
  db: Executor,
  workspaceId: string,
  invitation: { id: string; email: string; roleIds: readonly string[]; invitedBy: string | null; tokenHash: Buffer; expiresAt: Date },
): Promise<Invitation> {
  const { id, email, roleIds, invitedBy, tokenHash, expiresAt } = invitation
  return (await db.query<Invitation>(write(workspaceId, id, email, roleIds, invitedBy, tokenHash, expiresAt)))[0] as Invitation
}

const use = sql('use_invitation', `delete from invitations where token_hash = $1 and expires_at > $2 returning ${columns}`)
/** Uses an invitation up: of several callers at once, one gets it. */
export async function useInvitation(db: Executor, tokenHash: Buffer, now: Date): Promise<Invitation | undefined> {
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
