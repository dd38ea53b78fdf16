import { roleNames } from '#shared/core/roles/schemas.ts'
import { withAccessLock } from '#shared/core/scope/access-lock.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { deleteMember, findMember, listMemberRows, type Member } from '#shared/core/workspaces/members/store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

const memberSchema = t.Object(
  {
    id: t.String({ format: 'uuid' }),
    type: t.Literal('user'),
    name: t.String(),
    email: t.String(),
    owner: t.Boolean(),
    roles: roleNames,
    created_at: t.String({ format: 'date-time', description: 'When the person joined.' }),
  },
  { title: 'Member', description: 'A person of the workspace.' },
)
export const member = schema(memberSchema)
export const memberList = schema(t.Array(memberSchema))

/** The people of the workspace, first come first. Whoever is invited is none of them yet. */
export const listMembers = ({ db, workspace }: Scope): Promise<Member[]> => listMemberRows(db, workspace.id)

/** One person of the workspace; NOT_FOUND when it is no member. */
export async function getMember({ db, workspace }: Scope, userId: string): Promise<Member> {
  const found = isUuid(userId) ? await findMember(db, workspace.id, userId) : undefined
  if (!found) throw problem('NOT_FOUND')
  return found
}

/** Takes a person out of the workspace, in every process from the next request on. The owner stays: VALIDATION_ERROR. */
export function removeMember(scope: Scope, userId: string): Promise<void> {
  return withAccessLock(scope, 'iam:manage_members', async ({ db, workspace }) => {
    if (userId.toLowerCase() === workspace.owner_id) throw problem('VALIDATION_ERROR', 'userId is the owner, who cannot be removed')
    const isGone = isUuid(userId) && (await deleteMember(db, workspace.id, userId))
    if (!isGone) throw problem('NOT_FOUND')
  })
}
