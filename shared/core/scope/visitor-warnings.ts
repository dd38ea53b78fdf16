import type { Permission } from '#shared/core/policy/permissions.ts'
import { permits } from '#shared/core/scope/access.ts'
import { loadVisitor } from '#shared/core/scope/actor.ts'
import type { Scope } from '#shared/core/scope/scope.ts'

/** Adds warnings to a response if there are any. */
export const addWarnings = <T extends object>(answer: T, texts: readonly string[]): T & { warnings?: string[] } =>
  texts.length === 0 ? answer : { ...answer, warnings: [...texts] }

/** One warning for each permission that visitors lack on a published resource, with the rule that grants it. */
export async function findVisitorWarnings(scope: Scope, permissions: readonly Permission[], resource: string): Promise<string[]> {
  const actor = await loadVisitor(scope.cache, scope.db, scope.workspace.id)
  return permissions
    .filter((permission) => !permits({ actor }, permission, resource))
    .map((permission) => {
      const rule = JSON.stringify({ effect: 'allow', actions: [permission], resources: [resource] })
      return `Visitors lack ${permission} on ${resource}: the owner gives it with the rule ${rule} in a role whose is_anonymous is true`
    })
}
