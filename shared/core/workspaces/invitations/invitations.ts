import { makeSecret } from '#shared/core/people/tokens.ts'
import { requireAssignable } from '#shared/core/roles/grants.ts'
import { listRoles } from '#shared/core/roles/roles.ts'
import type { RoleName } from '#shared/core/roles/schemas.ts'
import { withAccessLock } from '#shared/core/scope/access-lock.ts'
import { requireWithinPlan } from '#shared/core/scope/plan-cap.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import {
  countInvitations,
  deleteInvitation,
  type Invitation,
  listInvitationRows,
  updateInvitationRoles,
  upsertInvitation,
} from '#shared/core/workspaces/invitations/store.ts'
import { countMembers, findMemberByEmail } from '#shared/core/workspaces/members/store.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'
import { accountMailKinds, type Mail } from '#shared/platform/mail/mail.ts'
import { queueMail } from '#shared/platform/mail/outbox.ts'
import { countMail } from '#shared/platform/mail/store.ts'

const daysToAccept = 7
const acceptMs = daysToAccept * dayMs
/** Minimum time between two mails to the same address (docs/contract/access.md#invitations). */
const mailIntervalMs = 60_000
/** Maximum invitation mails in 24 hours. Few, since invitations are unsolicited mail. */
const [maxFromWorkspace, maxToAddress] = [500, 10]

type InvitationView = Omit<Invitation, 'workspace_id' | 'role_ids' | 'invited_by'> & { readonly roles: readonly RoleName[] }

/**
 * Invites an address by mail to join with these roles, which grant no more than the caller holds. Replaces an earlier invitation to the
 * address, unless that was mailed within the last minute: then it keeps its token, nothing is mailed, and it has the given roles in the
 * caller's name. KEY_TAKEN when the address
 * belongs to a member, LIMIT_EXCEEDED when the free plan is full, RATE_LIMITED past the daily maximum of mail.
 */
export async function inviteMember(
  scope: Scope,
  { email, role_ids }: { email: string; role_ids?: readonly string[] },
): Promise<InvitationView> {
  return withAccessLock(scope, 'iam:manage_members', async (locked) => {
    const { db, workspace } = locked
    if (await firstRow(db, findMemberByEmail({ workspaceId: workspace.id, email }))) throw problem('KEY_TAKEN', 'email belongs to a member')
    const roleIds = (await requireAssignable(locked, role_ids ?? [])).map(({ id }) => id)
    const names = new Map((await listRoles(locked)).map(({ id, name }) => [id, name]))
    const token = makeSecret()
    const now = scope.now()
    const written = { id: newId(), email, roleIds, invitedBy: scope.actor.id, tokenHash: token.hash, expiresAt: addMs(now, acceptMs) }
    const times = { now, resendBefore: addMs(now, -mailIntervalMs) }
    const row = await firstRow(db, upsertInvitation({ workspaceId: workspace.id, ...written, ...times }))
    if (row) {
      await requireMailQuota(locked, email)
      const countAfterInvitation = async () => (await countMembers(db, workspace.id)) + (await countInvitations(db, workspace.id, now))
      await requireWithinPlan(locked, 'members', countAfterInvitation)
      await queueMail(locked, invitationMail(locked, email, token.text))
    }
    const roles = { roleIds: role_ids && roleIds, invitedBy: scope.actor.id }
    const current = row ?? (await firstRow(db, updateInvitationRoles({ workspaceId: workspace.id, email, ...roles })))
    if (!current) throw new Error('The invitation that was in the way is gone, although the workspace is locked')
    return viewOf(current, names)
  })
}

const addMs = (time: Date, ms: number): Date => new Date(time.getTime() + ms)

/** Invitations that can still be accepted, oldest first. */
export async function listInvitations(scope: Scope): Promise<InvitationView[]> {
  const names = new Map((await listRoles(scope)).map(({ id, name }) => [id, name]))
  return (await scope.db.query(listInvitationRows({ workspaceId: scope.workspace.id, now: scope.now() }))).map((row) => viewOf(row, names))
}

/** Withdraws an invitation: its token is no longer valid. */
export async function withdrawInvitation({ db, workspace }: Scope, id: string): Promise<void> {
  requireRow(isUuid(id) ? await db.query(deleteInvitation({ workspaceId: workspace.id, id })) : [])
}

async function requireMailQuota({ db, workspace, now }: Scope, email: string): Promise<void> {
  const since = new Date(now().getTime() - dayMs)
  const sent = await countMail(db, { kind: accountMailKinds.invitation, workspaceId: workspace.id, to: email, since })
  if (sent.fromWorkspace < maxFromWorkspace && sent.toAddress < maxToAddress) return
  const reason = `At most ${maxFromWorkspace} invitations a day go out from a workspace, and ${maxToAddress} to an address`
  throw problem('RATE_LIMITED', reason, { headers: { 'Retry-After': '3600' } })
}

/** Mail with an invitation token. The token has its own line, which no mail program breaks. */
function invitationMail({ config, workspace, actor }: Scope, to: string, token: string): Mail {
  return {
    workspaceId: workspace.id,
    kind: accountMailKinds.invitation,
    to,
    subject: `Join ${workspace.name}`,
    text: `Hello,

${actor.name} invites you to the workspace "${workspace.name}" at Kontor.

To join ${workspace.name}, open this address:
${config.publicUrl}/accept-invite?token=${token}

If you have an account with this mail address already, sign in there with
its password. The token of the invitation is:
${token}

It works once, within ${daysToAccept} days. If you do not know what this is about, you
need not do anything.
`,
  }
}

/** Roles deleted since the invitation are left out. */
function viewOf({ id, email, role_ids, expires_at, created_at }: Invitation, names: ReadonlyMap<string, string>): InvitationView {
  const roles = role_ids.flatMap((roleId) => {
    const name = names.get(roleId)
    return name === undefined ? [] : [{ id: roleId, name }]
  })
  return { id, email, roles, expires_at, created_at }
}
