import { newPassword, verifyPassword } from '#shared/core/people/passwords.ts'
import { preparePerson } from '#shared/core/people/people.ts'
import { type OpenedSession, openSession, sessionShape, wrongPasswordProblem } from '#shared/core/people/sessions.ts'
import { emailIndexName, findPersonByEmail, insertPerson, type Person } from '#shared/core/people/store.ts'
import { hashSecret } from '#shared/core/people/tokens.ts'
import { giveRoles, lockRolesShared } from '#shared/core/roles/store.ts'
import { requireWithinPlan } from '#shared/core/scope/plan-cap.ts'
import { type PlatformScope, within } from '#shared/core/scope/scope.ts'
import { findWorkspace, lockWorkspace, type Workspace } from '#shared/core/scope/workspace.ts'
import { consumeInvitation, findInvitation, type Invitation } from '#shared/core/workspaces/invitations/store.ts'
import { countMembers, insertMember } from '#shared/core/workspaces/members/store.ts'
import { uniqueViolation } from '#shared/platform/db/database-errors.ts'
import { requireNotHalted } from '#shared/platform/kernel/background.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { nameSchema } from '#shared/platform/kernel/name.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

export const invitationAnswer = schema(
  t.Object({ token: t.String({ maxLength: 200 }), name: nameSchema(120), password: newPassword }, { title: 'InvitationAnswer' }),
)
export type InvitationAnswer = ReturnType<(typeof invitationAnswer)['parse']>

/** The session of whoever has joined, and where. */
export const acceptedInvitation = schema(
  t.Object({ ...sessionShape.properties, org_id: t.String({ format: 'uuid' }) }, { title: 'AcceptedInvitation' }),
)

/**
 * Joins a workspace by a token that was mailed, and signs in. An address without an account gets one of this name and password; one that
 * has an account joins with it, provided that the password is its own (else UNAUTHORIZED).
 */
export const acceptInvitation = (scope: PlatformScope, answer: InvitationAnswer): Promise<OpenedSession & { org_id: string }> =>
  accept(scope, answer, async (inside, person, workspaceId) => {
    const session = await openSession(inside, person)
    if (!session) throw wrongPasswordProblem('The password has just been changed')
    return { ...session, org_id: workspaceId }
  })

/** The same for somebody who signs in elsewhere. */
export const joinByInvitation = (scope: PlatformScope, answer: InvitationAnswer): Promise<void> =>
  accept(scope, answer, () => Promise.resolve())

/** What an invitation is to, for whoever was mailed its token; NOT_FOUND when it has been used or taken back, is too old, or never was. */
export async function readInvitation(scope: PlatformScope, token: string): Promise<InvitationView> {
  const invitation = await findInvitation(scope.db, hashSecret(token), scope.now())
  const workspace = invitation && (await findWorkspace(scope.db, invitation.workspace_id))
  if (!workspace) throw problem('NOT_FOUND', 'This invitation has been used or taken back, or is too old. Ask for another one.')
  const person = await findPersonByEmail(scope.db, invitation.email)
  return { workspace, email: invitation.email, hasAccount: person !== undefined }
}

export interface InvitationView {
  readonly workspace: Pick<Workspace, 'id' | 'name' | 'color' | 'logo'>
  readonly email: string
  /** Whether the address belongs to an account, whose password is then asked for. */
  readonly hasAccount: boolean
}

type Conclusion<T> = (scope: PlatformScope, person: Person, workspaceId: string) => Promise<T>

async function accept<T>(scope: PlatformScope, answer: InvitationAnswer, conclude: Conclusion<T>): Promise<T> {
  const tokenHash = hashSecret(answer.token)
  const invitation = await findInvitation(scope.db, tokenHash, scope.now())
  if (!invitation) throw refusedToken()
  const known = await findPersonByEmail(scope.db, invitation.email)
  if (known && !(await verifyPassword(answer.password, known.password_hash))) {
    throw wrongPasswordProblem('This address has an account already: send its own password')
  }
  const person = known ?? (await preparePerson({ ...answer, email: invitation.email }))
  try {
    return await scope.db.transaction(async (tx) => {
      const inside = within(scope, tx)
      const workspaceId = await join(inside, tokenHash, person, known === undefined)
      return conclude(inside, person, workspaceId)
    })
  } catch (error) {
    // The same address has just got its account through another invitation: join with that.
    if (known || uniqueViolation(error) !== emailIndexName) throw error
    return accept(scope, answer, conclude)
  }
}

const refusedToken = () => problem('VALIDATION_ERROR', 'token is not valid: it has been used or taken back, is too old, or was never sent')

/** The workspace is locked before the invitation is used, in the order in which inviting does it. */
async function join(scope: PlatformScope, tokenHash: Buffer, person: Person, isNew: boolean): Promise<string> {
  const { db, now } = scope
  const seen = await findInvitation(db, tokenHash, now())
  const workspace = seen && (await lockWorkspace(db, seen.workspace_id))
  const invitation = workspace && (await consumeInvitation(db, tokenHash, now()))
  if (!invitation) throw refusedToken()
  requireNotHalted({ work: 'request', app: null }, workspace)
  if (isNew) await insertPerson(db, person)
  await enter(scope, invitation, person)
  await requireWithinPlan({ config: scope.config, workspace }, 'members', () => countMembers(db, workspace.id))
  return workspace.id
}

/** Makes the person a member, unless it is one, with those of the roles that there still are. */
async function enter({ db }: PlatformScope, invitation: Invitation, person: Person): Promise<void> {
  await insertMember(db, invitation.workspace_id, person.id)
  const roles = await lockRolesShared(db, invitation.workspace_id, invitation.role_ids)
  const held = roles.filter((role) => !role.is_anonymous).map(({ id }) => id)
  await giveRoles(db, invitation.workspace_id, person.id, held)
}
