import { testedFields } from '#shared/core/policy/conditions/condition.ts'
import { indexRules, type RuleIndex } from '#shared/core/policy/rules/rule-index.ts'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'
import { findFilteredFields } from '#shared/core/records/events/store.ts'
import { toValuesView, type Values } from '#shared/core/records/record.ts'
import { listRoleRows } from '#shared/core/roles/store.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { findKeptKeys } from '#shared/platform/events/listen.ts'

type RolesScope = Pick<Scope, 'db' | 'cache'> & { readonly workspace: { readonly id: string } }

/** The rules with conditions of all roles of the workspace. Cached until a role changes. */
const findConditionalRules = ({ db, cache, workspace }: RolesScope): Promise<RuleIndex<PolicyRule>> =>
  cache.remember(db, workspace.id, 'rules with conditions', async () => {
    const roles = await db.query(listRoleRows({ workspaceId: workspace.id }))
    return indexRules(roles.flatMap(({ policy }) => policy.filter(({ condition }) => condition)))
  })

/** Keys of fields that the filters of enabled webhooks name, by type. Cached until such a filter changes. */
const findFilterKeys = ({ db, cache, workspace }: RolesScope): Promise<ReadonlyMap<string, readonly string[]>> =>
  cache.remember(db, workspace.id, 'fields of filters of webhooks', async () => {
    const rows = await db.query(findFilteredFields({ workspaceId: workspace.id }))
    return new Map(rows.map(({ object_type, keys }) => [object_type ?? '', keys]))
  })

/**
 * Keys of the type's fields that a condition of any role on reading its records tests, a listener to events, or the filter of an enabled
 * webhook.
 */
export async function findTestedKeys(scope: RolesScope, { key, fieldByKey }: RecordType): Promise<ReadonlySet<string>> {
  const rules = (await findConditionalRules(scope)).matching('records:read', key)
  const filtered = (await findFilterKeys(scope)).get(key) ?? []
  const tested = [...rules.flatMap(testedFields), ...(await findKeptKeys(scope)), ...filtered]
  return new Set(tested.filter((one) => fieldByKey.has(one)))
}

/**
 * The values of tested fields that the event of an update keeps besides those that changed, in JSON form: they tell whether the record
 * entered or left what a reader may see, and whether it passes the filter of a listener or a webhook.
 */
export const keptValues = (type: RecordType, values: Values, tested: ReadonlySet<string>): Readonly<Record<string, unknown>> | null =>
  tested.size === 0 ? null : toValuesView(type, values, tested)
