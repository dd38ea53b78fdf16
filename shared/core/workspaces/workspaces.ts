import { type PlatformScope, type Scope, within } from '#shared/core/scope/scope.ts'
import type { Workspace } from '#shared/core/scope/store.ts'
import { setUpWorkspaceJob } from '#shared/core/workspaces/jobs.ts'
import { requireWorkspaceQuota } from '#shared/core/workspaces/owners.ts'
import type { WorkspaceChanges } from '#shared/core/workspaces/schemas.ts'
import { changeWorkspace, insertWorkspace, listWorkspacesOf } from '#shared/core/workspaces/store.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { isDay } from '#shared/platform/kernel/time/instant.ts'
import { isTimeZone } from '#shared/platform/kernel/time/time-zone.ts'
import { isCurrencyCode } from '#shared/platform/kernel/values/currency.ts'

/**
 * Creates a workspace owned by the calling person. A worker sets it up; until then its routes answer ORG_NOT_READY. Throws as
 * `requireWorkspaceQuota`.
 */
export async function createWorkspace(scope: PlatformScope, input: { name: string }): Promise<Workspace> {
  const { db, principal, config, jobQueue, cause } = scope
  if (!principal) throw problem('UNAUTHORIZED')
  const id = newId()
  return db.transaction(async (tx) => {
    await requireWorkspaceQuota(within(scope, tx), principal.id)
    const written = insertWorkspace({ id, name: input.name.trim(), plan: config.defaultPlan, ownerId: principal.id })
    const workspace = requireRow(await tx.query(written))
    await jobQueue.enqueue(tx, setUpWorkspaceJob, { workspaceId: id, cause }, { workspaceId: id })
    return workspace
  })
}

/** The workspace's settings, as callers see them. */
export const viewWorkspace = ({ workspace: { share_id: _, ...shown } }: Pick<Scope, 'workspace'>): Workspace => shown

/** Workspaces of the calling person, oldest first. */
export const listWorkspaces = ({ db, principal }: PlatformScope): Promise<Workspace[]> =>
  db.query(listWorkspacesOf({ userId: principal?.id ?? '' }))

/**
 * Changes workspace settings and returns all of them. Closing books waits for postings in progress. Throws VALIDATION_ERROR for an invalid
 * value, for switching multi_currency off, and for another default currency once an entry is posted in single-currency books.
 */
export async function changeWorkspaceSettings(scope: Scope, changes: WorkspaceChanges): Promise<Workspace> {
  const { default_currency, timezone, books_closed_through: closed } = changes
  if (default_currency !== undefined && !isCurrencyCode(default_currency)) {
    throw problem('VALIDATION_ERROR', `default_currency must be an ISO 4217 code such as EUR, got ${default_currency.slice(0, 20)}`)
  }
  if (timezone !== undefined && !isTimeZone(timezone)) {
    throw problem('VALIDATION_ERROR', `timezone must be a name of the IANA list such as Europe/Berlin, got ${timezone.slice(0, 50)}`)
  }
  if (typeof closed === 'string' && !isDay(closed)) {
    throw problem('VALIDATION_ERROR', `books_closed_through must be a day as YYYY-MM-DD or null, got ${closed.slice(0, 20)}`)
  }
  const name = changes.name?.trim()
  const changed = await changeWorkspace(scope.db, scope.workspace.id, name === undefined ? changes : { ...changes, name })
  if (!changed) throw problem('VALIDATION_ERROR', 'multi_currency can only be switched on: the books already keep several currencies')
  return changed
}
