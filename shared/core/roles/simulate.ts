import type { Decision, TestedField } from '#shared/core/policy/evaluate.ts'
import type { Simulation } from '#shared/core/roles/schemas.ts'
import { loadActor } from '#shared/core/scope/actor.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/**
 * Decides by the rules of a member or service account whether an action is allowed. `readFields` gives the fields of a record type, so that
 * values are compared by their field types. NOT_FOUND when the workspace has no such principal.
 */
export async function simulate(
  scope: Scope,
  { user_id, action, resource = '*', attrs = {} }: Simulation,
  readFields: (resource: string) => Promise<readonly TestedField[]>,
): Promise<Decision> {
  const { cache, db, workspace } = scope
  const actor = isUuid(user_id) ? await loadActor(cache, db, workspace.id, user_id.toLowerCase()) : undefined
  if (!actor) throw problem('NOT_FOUND', 'user_id names no member or service account of this workspace')
  const fields = action.startsWith('records:') ? await readFields(resource) : []
  return actor.policy.decide(action, resource, attrs, fields)
}
