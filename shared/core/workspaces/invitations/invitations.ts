import { makeSecret } from '#shared/core/people/tokens.ts'
import { requireAssignable } from '#shared/core/roles/grants.ts'
import { listRoles } from '#shared/core/roles/roles.ts'
import { type RoleName, roleNames } from '#shared/core/roles/schemas.ts'
import { withAccessLock } from '#shared/core/scope/access-lock.ts'
import { requireWithinPlan } from '#shared/core/scope/plan-cap.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { invitationMail } from '#shared/core/workspaces/invitations/invitation-mail.ts'
import {
  countInvitations,
  deleteInvitation,
  type Invitation,
  listInvitationRows,
  updateInvitationRoles,
  upsertInvitation,
} from '#shared/core/workspaces/invitations/store.ts'
import { countMembers, hasMemberWithEmail } from '#shared/core/workspaces/members/store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { queueMail } from '#shared/platform/mail/outbox.ts'
import { countMail } from '#shared/platform/mail/store.ts'

const daysToAccept = 7
const dayMs = 24 * 60 * 60 * 1000
const acceptMs = daysToAccept * dayMs
/** Inviting again so soon after a mail sends no other (decisions, People, keys, workspaces). */
const restMs = 60_000
/** Invitations are mail to people who did not ask for it, so they are few: in 24 hours from a workspace, and to an address. */
const [mostFromWorkspace, mostToAddress] = [500, 10]

const invitationSchema = t.Object(
  {
    id: t.String({ format: 'uuid' }),
    email: t.String(),
    roles: roleNames,
    expires_at: t.String({ format: 'date-time' }),
    created_at: t.String({ format: 'date-time' }),
  },
  { title: 'Invitation', description: 'Whoever has the token that was mailed to the address may join with these roles.' },
)
export const invitation = schema(invitationSchema)
export const invitationList = schema(t.Array(invitationSchema))
export const invitationInput = schema(
  t.Object(
    { email: t.String({ format: 'email' }), role_ids: t.Optional(t.Array(t.String(), { maxItems: 50 })) },
    { title: 'InvitationInput' },
  ),
)

type Shown = Omit<Invitation, 'workspace_id' | 'role_ids'> & { readonly roles: readonly RoleName[] }

/**
 * Invites an address, by mail, to join with these roles, which grant no more than the caller holds. An earlier invitation to it is dead
 * then, unless its mail went out within the last minute: that one stays, and nothing is mailed. KEY_TAKEN when it is a member's,
 * LIMIT_EXCEEDED when the free plan has no room, RATE_LIMITED past a day's share of mail.
 */
export async function inviteMember(scope: Scope, { email, role_ids }: { email: string; role_ids?: readonly string[] }): Promise<Shown> {
  return withAccessLock(scope, 'iam:manage_members', async (inside) => {
    const { db, workspace } = inside
    if (await hasMemberWithEmail(db, workspace.id, email)) throw problem('KEY_TAKEN', 'email belongs to a member')
    const roleIds = (await requireAssignable(inside, role_ids ?? [])).map(({ id }) => id)
    const names = new Map((await listRoles(inside)).map(({ id, name }) => [id, name]))
    const token = makeSecret()
    const now = scope.now()
    const written = { id: newId(), email, roleIds, invitedBy: scope.actor.id, tokenHash: token.hash, expiresAt: after(now, acceptMs) }
    const row = await upsertInvitation(db, workspace.id, written, { now, restUntil: after(now, -restMs) })
    if (row) {
      await requireQuiet(inside, email)
      const invited = async () => (await countMembers(db, workspace.id)) + (await countInvitations(db, workspace.id, now))
      await requireWithinPlan(inside, 'members', invited)
      await queueMail(inside, invitationMail(inside, email, token.text, daysToAccept))
    }
    const standing = row ?? (await updateInvitationRoles(db, workspace.id, email, role_ids && roleIds))
    if (!standing) throw new Error('The invitation that was in the way is gone, although the workspace is locked')
    return shown(standing, names)
  })
}

const after = (time: Date, ms: number): Date => new Date(time.getTime() + ms)

/** The invitations that can still be accepted, oldest first. */
export async function listInvitations(scope: Scope): Promise<Shown[]> {
  const names = new Map((await listRoles(scope)).map(({ id, name }) => [id, name]))
  return (await listInvitationRows(scope.db, scope.workspace.id, scope.now())).map((row) => shown(row, names))
}

/** Takes an invitation back: its token is dead. */
export async function withdrawInvitation({ db, workspace }: Scope, id: string): Promise<void> {
  const isGone = isUuid(id) && (await deleteInvitation(db, workspace.id, id))
  if (!isGone) throw problem('NOT_FOUND')
}

async function requireQuiet({ db, workspace, now }: Scope, email: string): Promise<void> {
  const since = new Date(now().getTime() - dayMs)
  const sent = await countMail(db, { kind: 'invitation', workspaceId: workspace.id, to: email, since })
  if (sent.fromWorkspace < mostFromWorkspace && sent.toAddress < mostToAddress) return
  const reason = `At most ${mostFromWorkspace} invitations a day go out from a workspace, and ${mostToAddress} to an address`
  throw problem('RATE_LIMITED', reason, { headers: { 'Retry-After': '3600' } })
}

/** A role that has been deleted since is no longer among those that come with the invitation. */
function shown({ id, email, role_ids, expires_at, created_at }: Invitation, names: ReadonlyMap<string, string>): Shown {
  const roles = role_ids.flatMap((roleId) => {
    const name = names.get(roleId)
    return name === undefined ? [] : [{ id: roleId, name }]
  })
  return { id, email, roles, expires_at, created_at }
}
