import { problem } from '#shared/kernel/errors.ts'
import type { PlatformScope } from '#shared/scope/scope.ts'
import type { Workspace } from '#shared/scope/workspace.ts'
import { countMembers } from '#shared/workspaces/members-store.ts'

/**
 * Throws LIMIT_EXCEEDED when a workspace of the free plan has more members than it may have, `invited` counted among them (decisions, Free
 * plan). Called after the write, by whoever holds the workspace's lock: callers at once stay within the cap together.
 */
export async function requireWithinCap({ db, config }: PlatformScope, workspace: Workspace, invited: number): Promise<void> {
  const cap = config.freePlan.members
  if (workspace.plan === 'free' && (await countMembers(db, workspace.id)) + invited > cap) {
    throw problem('LIMIT_EXCEEDED', `The free plan has at most ${cap} members, those who are invited included`)
  }
}
