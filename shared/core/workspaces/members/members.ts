import { withAccessLock } from '#shared/core/scope/access-lock.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { deleteMember, findMember, listMemberRows, type Member } from '#shared/core/workspaces/members/store.ts'
import { announceHappening } from '#shared/platform/events/announce.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** Members of the workspace, in the order of joining. Invited people are not included. */
export const listMembers = ({ db, workspace }: Scope): Promise<Member[]> => db.query(listMemberRows({ workspaceId: workspace.id }))

/** One member; NOT_FOUND when the person is not a member. */
export async function getMember({ db, workspace }: Scope, userId: string): Promise<Member> {
  return requireRow(isUuid(userId) ? await db.query(findMember({ workspaceId: workspace.id, userId })) : [])
}

/** Removes a member, effective in every process from its next request. VALIDATION_ERROR for the owner, who cannot be removed. */
export function removeMember(scope: Scope, userId: string): Promise<void> {
  return withAccessLock(scope, 'iam:manage_members', async (locked) => {
    const { db, workspace } = locked
    if (userId.toLowerCase() === workspace.owner_id) throw problem('VALIDATION_ERROR', 'userId is the owner, who cannot be removed')
    requireRow(isUuid(userId) ? await db.query(deleteMember({ workspaceId: workspace.id, userId })) : [])
    await announceHappening(locked, { type: 'members.left', subject: { id: userId.toLowerCase() } })
  })
}
