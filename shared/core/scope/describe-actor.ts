import type { Scope } from '#shared/core/scope/scope.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** The calling principal, its roles and the combined rules of all its roles (document 1, Roles and access). */
export function describeActor({ actor, principal }: Scope) {
  if (!principal) throw problem('UNAUTHORIZED')
  const { id, type, name } = principal
  const policy = actor.rules.map(({ role_id: _, index: __, ...rule }) => rule)
  return { principal: { id, type, name }, owner: actor.owner, roles: [...actor.roles], policy }
}
