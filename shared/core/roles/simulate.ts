import type { Decision, TestedField } from '#shared/core/policy/evaluate.ts'
import { type Permission, permissions } from '#shared/core/policy/permissions.ts'
import { policySchema, type SourcedRule } from '#shared/core/policy/policy-rules.ts'
import { loadActor } from '#shared/core/scope/actor.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import { nullable, schema, t } from '#shared/platform/kernel/schema.ts'

/** A query of a principal's rights (document 1, Roles and access, rule 4). */
export const simulation = schema(
  t.Object(
    {
      user_id: t.String({ description: 'Id of a member or service account.' }),
      action: t.Unsafe<Permission>({ type: 'string', enum: permissions }),
      resource: t.Optional(t.String({ maxLength: 100, description: 'A key, or `*` for all of them.' })),
      attrs: t.Optional(t.Record(t.String(), t.Unknown(), { description: 'Values that conditions test, by field key.' })),
    },
    { title: 'Simulation' },
  ),
)
type Simulation = ReturnType<(typeof simulation)['parse']>

export const decision = schema(
  t.Object(
    {
      allowed: t.Boolean(),
      effect: t.Enum(['allow', 'deny']),
      matched: nullable(
        t.Unsafe<SourcedRule>({
          allOf: [
            (policySchema.json as unknown as { items: object }).items,
            { type: 'object', properties: { role_id: { type: 'string', format: 'uuid' }, index: { type: 'integer' } } },
          ],
          description: 'The rule that decided; null when none did.',
        }),
      ),
    },
    { title: 'Decision' },
  ),
)

/**
 * Decision of the rules of a member or service account on an action. `readFields` gives the fields of a record type, so that values are
 * compared by their field types. NOT_FOUND when the workspace has no such principal.
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
