import { type Found, type Guard, unguarded } from '#shared/db/guard.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** What goes into a guarded statement, and who hears what it found. */
interface Guarded {
  readonly slots: ReturnType<Guard['slots']> | typeof unguarded
  /** Throws OutOfDate when the statement was kept from writing. */
  readonly confirm: (found: Found | undefined) => void
}

/**
 * The guard of a statement that goes by what is remembered of the workspace and the caller. Changes in other workspaces are no reason to begin
 * again. What was confirmed by an earlier statement of the same work is not asked again.
 */
export function guardOf({ guard, workspace, actor }: Scope): Guarded {
  if (!guard || guard.isConfirmed) return { slots: unguarded, confirm: () => undefined }
  const scopes = [workspace.id, ...(actor.id === null ? [] : [actor.id])]
  return { slots: guard.slots(scopes), confirm: (found) => found && guard.confirm(found, scopes) }
}

/** Asks whether what is remembered holds, before work that is not one guarded statement; nothing where it was asked before. Throws OutOfDate. */
export async function askGuard({ guard }: Scope): Promise<void> {
  if (guard && !guard.isConfirmed) await guard.ask()
}
