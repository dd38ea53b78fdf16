import { checkPassword, hashPasswordByToken, type PasswordQuota } from '#shared/core/people/passwords.ts'
import { preparePerson } from '#shared/core/people/people.ts'
import { type OpenedSession, openSession, wrongPasswordProblem } from '#shared/core/people/sessions.ts'
import { emailIndexName, findPersonByEmail, insertPerson, type Person } from '#shared/core/people/store.ts'
import { hashSecret } from '#shared/core/people/tokens.ts'
import { mayGive } from '#shared/core/roles/grants.ts'
import { requirePrincipalSize } from '#shared/core/roles/limits.ts'
import { giveRoles, lockRolesShared, type Role } from '#shared/core/roles/store.ts'
import { readActor, systemActor } from '#shared/core/scope/actor.ts'
import { requireWithinPlan } from '#shared/core/scope/plan-cap.ts'
import { type PlatformScope, within } from '#shared/core/scope/scope.ts'
import type { Workspace } from '#shared/core/scope/store.ts'
import { findWorkspace, lockWorkspace } from '#shared/core/scope/store.ts'
import type { InvitationAnswer } from '#shared/core/workspaces/invitations/schemas.ts'
import { consumeInvitation, findInvitation, type Invitation } from '#shared/core/workspaces/invitations/store.ts'
import { reportLeftOutRolesJob } from '#shared/core/workspaces/jobs.ts'
import { countMembers, insertMember } from '#shared/core/workspaces/members/store.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { uniqueViolation } from '#shared/platform/db/database-errors.ts'
import { announceHappening } from '#shared/platform/events/announce.ts'
import { requireNotHalted } from '#shared/platform/kernel/background.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * Joins a workspace by a mailed token, and signs in. Creates an account with this name and password if the address has none. Otherwise the
 * existing account joins; UNAUTHORIZED when the password is not that account's.
 */
export const acceptInvitation = (
  scope: PlatformScope,
  quota: PasswordQuota,
  answer: InvitationAnswer,
): Promise<OpenedSession & { org_id: string }> =>
  accept(scope, quota, answer, async (inside, person, workspaceId) => {
    const session = await openSession(inside, person)
    if (!session) throw wrongPasswordProblem('The password has just been changed')
    return { ...session, org_id: workspaceId }
  })

/** Like `acceptInvitation`, without opening a session. */
export const joinByInvitation = (scope: PlatformScope, quota: PasswordQuota, answer: InvitationAnswer): Promise<void> =>
  accept(scope, quota, answer, () => Promise.resolve())

/** The invitation of a mailed token, for its page. NOT_FOUND when it was used, withdrawn, has expired or never existed. */
export async function readInvitation(scope: PlatformScope, token: string): Promise<InvitationView> {
  const invitation = await firstRow(scope.db, findInvitation({ tokenHash: hashSecret(token), now: scope.now() }))
  const workspace = invitation && (await firstRow(scope.db, findWorkspace({ id: invitation.workspace_id })))
  if (!workspace) throw problem('NOT_FOUND', 'This invitation has been used or taken back, or is too old. Ask for another one.')
  const person = await findPersonByEmail(scope.db, invitation.email)
  return { workspace, email: invitation.email, hasAccount: person !== undefined }
}

export interface InvitationView {
  readonly workspace: Pick<Workspace, 'id' | 'name' | 'color' | 'logo'>
  readonly email: string
  /** Whether the address has an account; accepting then requires its password. */
  readonly hasAccount: boolean
}

type Conclude<T> = (scope: PlatformScope, person: Person, workspaceId: string) => Promise<T>

async function accept<T>(scope: PlatformScope, quota: PasswordQuota, answer: InvitationAnswer, conclude: Conclude<T>): Promise<T> {
  const tokenHash = hashSecret(answer.token)
  const invitation = await firstRow(scope.db, findInvitation({ tokenHash, now: scope.now() }))
  if (!invitation) throw invalidTokenProblem()
  const { email } = invitation
  const known = await findPersonByEmail(scope.db, email)
  if (known && !(await checkPassword(quota, { email, password: answer.password }, known.password_hash))) {
    throw wrongPasswordProblem('This address has an account already: send its own password')
  }
  const person = known ?? preparePerson({ email, name: answer.name, hash: await hashPasswordByToken(quota, answer) })
  try {
    return await scope.db.transaction(async (tx) => {
      const inside = within(scope, tx)
      const workspaceId = await join(inside, tokenHash, person, known === undefined)
      return conclude(inside, person, workspaceId)
    })
  } catch (error) {
    // A concurrent invitation has just created an account for this address: join with that one.
    if (known || uniqueViolation(error) !== emailIndexName) throw error
    return accept(scope, quota, answer, conclude)
  }
}

const invalidTokenProblem = () =>
  problem('VALIDATION_ERROR', 'token is not valid: it has been used or taken back, is too old, or was never sent')

/** Locks the workspace before it consumes the invitation, in the same order as inviting. */
async function join(scope: PlatformScope, tokenHash: Buffer, person: Person, isNew: boolean): Promise<string> {
  const { db, now } = scope
  const found = await firstRow(db, findInvitation({ tokenHash, now: now() }))
  const workspace = found && (await firstRow(db, lockWorkspace({ id: found.workspace_id })))
  const invitation = workspace && (await firstRow(db, consumeInvitation({ tokenHash, now: now() })))
  if (!invitation) throw invalidTokenProblem()
  requireNotHalted({ work: 'request', app: null }, workspace)
  if (isNew) await insertPerson(db, person)
  await addMember(scope, invitation, person)
  await requireWithinPlan({ config: scope.config, workspace }, 'members', () => countMembers(db, workspace.id))
  return workspace.id
}

/**
 * Makes the person a member if it is not, and assigns the invitation's roles that still exist and that the inviter may give now. Of the
 * others the holders of iam:manage_members are notified (docs/contract/access.md#joining). VALIDATION_ERROR when they are too large.
 */
async function addMember({ db, jobQueue, cause }: PlatformScope, invitation: Invitation, person: Person): Promise<void> {
  const { workspace_id: workspaceId, invited_by } = invitation
  const inWorkspace = { db, workspace: { id: workspaceId } }
  const [joined] = await db.query(insertMember({ workspaceId, userId: person.id }))
  // The one who joins has no credentials yet.
  const joining = { ...inWorkspace, jobQueue, cause: { ...cause, actorId: person.id, actorType: 'user' as const } }
  if (joined) await announceHappening(joining, { type: 'members.joined', subject: { id: person.id } })
  const roles = (await db.query(lockRolesShared({ workspaceId, ids: invitation.role_ids }))).filter((role) => !role.is_anonymous)
  const inviter = invited_by === null ? systemActor : await readActor(db, workspaceId, invited_by)
  const [given, leftOut]: [Role[], Role[]] = [[], []]
  for (const role of roles) {
    const list = inviter && (await mayGive({ ...inWorkspace, actor: inviter }, role)) ? given : leftOut
    list.push(role)
  }
  const roleIds = given.map(({ id }) => id)
  const added = await firstRow(db, giveRoles({ workspaceId, principalId: person.id, roleIds }))
  if (added?.given) await requirePrincipalSize(inWorkspace, person.id, 'token')
  if (leftOut.length === 0) return
  const payload = {
    invitationId: invitation.id,
    person: person.name,
    inviter: inviter?.name ?? null,
    roles: leftOut.map(({ name }) => name),
  }
  await jobQueue.enqueue(db, reportLeftOutRolesJob, { workspaceId, cause }, payload)
}
