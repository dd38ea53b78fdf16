import type { Executor } from '#shared/platform/db/database.ts'
import { bytes, instant, integer, type RowOf, selectList, text, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const columns = {
  workspace_id: uuid.notNull,
  id: uuid.notNull,
  email: text.notNull,
  role_ids: uuids.notNull,
  /** A member or service account, in whose name the roles are given; null for the platform. */
  invited_by: uuid,
  expires_at: instant.notNull,
  created_at: instant.notNull,
}
const list = selectList(columns)

/** A person who may join a workspace by a token that was mailed. */
export type Invitation = RowOf<typeof columns>

/** The invitations that can still be accepted, oldest first. */
export const listInvitationRows = statement(
  'workspaces.listInvitationRows',
  `select ${list} from invitations where workspace_id = $workspaceId and expires_at > $now order by created_at, id`,
  { params: { workspaceId: uuid, now: instant }, columns },
)

export const findInvitation = statement(
  'workspaces.findInvitation',
  `select ${list} from invitations where token_hash = $tokenHash and expires_at > $now`,
  { params: { tokenHash: bytes, now: instant }, columns },
)

/**
 * Stores an invitation. It replaces an earlier one to the same address, whose token becomes invalid. No row, and nothing is changed,
 * when the earlier one has not expired and is younger than `resendBefore`: its mail has just been sent.
 */
export const upsertInvitation = statement(
  'workspaces.upsertInvitation',
  `insert into invitations (workspace_id, id, email, role_ids, invited_by, token_hash, expires_at, created_at)
   values ($workspaceId, $id, $email, $roleIds, $invitedBy, $tokenHash, $expiresAt, $now)
   on conflict (workspace_id, lower(email)) do update
   set id = excluded.id, email = excluded.email, role_ids = excluded.role_ids, invited_by = excluded.invited_by,
     token_hash = excluded.token_hash, expires_at = excluded.expires_at, created_at = excluded.created_at
   where invitations.created_at <= $resendBefore or invitations.expires_at <= $now
   returning ${list}`,
  {
    params: {
      workspaceId: uuid,
      id: uuid,
      email: text,
      roleIds: uuids,
      invitedBy: uuid.orNull,
      tokenHash: bytes,
      expiresAt: instant,
      now: instant,
      resendBefore: instant,
    },
    columns,
  },
)

/** The invitation of an address; its token stays valid. If `roleIds` is given, it has these roles, in the name of `invitedBy`. */
export const updateInvitationRoles = statement(
  'workspaces.updateInvitationRoles',
  `update invitations set role_ids = coalesce($roleIds, role_ids),
     invited_by = case when $roleIds::uuid[] is null then invited_by else $invitedBy end
   where workspace_id = $workspaceId and lower(email) = lower($email) returning ${list}`,
  { params: { workspaceId: uuid, email: text, roleIds: uuids.orNull, invitedBy: uuid.orNull }, columns },
)

/** Uses up an invitation: of several concurrent calls with one token, one gets it. */
export const consumeInvitation = statement(
  'workspaces.consumeInvitation',
  `delete from invitations where token_hash = $tokenHash and expires_at > $now returning ${list}`,
  { params: { tokenHash: bytes, now: instant }, columns },
)

export const deleteInvitation = statement(
  'workspaces.deleteInvitation',
  'delete from invitations where workspace_id = $workspaceId and id = $id returning id',
  { params: { workspaceId: uuid, id: uuid }, columns: { id: uuid.notNull } },
)

const countOpenInvitations = statement(
  'workspaces.countOpenInvitations',
  'select count(*)::integer as invitations from invitations where workspace_id = $workspaceId and expires_at > $now',
  { params: { workspaceId: uuid, now: instant }, columns: { invitations: integer.notNull } },
)
/** The number of invitations that can still be accepted. */
export async function countInvitations(db: Executor, workspaceId: string, now: Date): Promise<number> {
  return (await db.query(countOpenInvitations({ workspaceId, now })))[0]?.invitations ?? 0
}
