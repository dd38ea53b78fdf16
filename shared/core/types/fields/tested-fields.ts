import { testedFields } from '#shared/core/policy/conditions/condition.ts'
import { inputsOf } from '#shared/core/policy/fields/field-access.ts'
import { isRecordAction, permissionsOf } from '#shared/core/policy/permissions.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { findTestingRole } from '#shared/core/types/formulas/store.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import type { Tx } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

type Fields = Pick<RecordType, 'key' | 'fields'>

/**
 * Throws FORBIDDEN when a rule that limits the caller on the type tests the field, or one that is computed from it: to delete or to compute
 * the field would lift the limit, and show or permit what the rule refuses. A caller without limits on the type passes.
 */
export function requireLimitsStay({ actor: { policy } }: Pick<Scope, 'actor'>, { key, fields }: Fields, field: Field): void {
  const affected = fieldsComputedFrom(fields, field)
  for (const permission of permissionsOf('records:*').filter(isRecordAction)) {
    const { verdict, alwaysVisible } = policy.recordAccess(permission, key, fields)
    if (verdict === 'none' || (verdict === 'all' && alwaysVisible)) continue
    const rules = policy.ruleIndexes.flatMap((index) => index.matching(permission, key))
    const rule = rules.find((one) => testedFields(one).some((tested) => affected.has(tested)))
    if (rule)
      throw problem(
        'FORBIDDEN',
        `${field.key} is tested by policy[${rule.index}] of your role ${rule.role_id}, which limits your ${permission} on ${key}`,
      )
  }
}

/**
 * Throws FORBIDDEN when a rule of a role tests a field that `field` changes and the caller does not read every input of: the records that pass
 * would tell the inputs (docs/contract/types-and-fields.md#rights-on-definitions). `fields` are those of the type after the change.
 */
export async function requireTestedInputsVisible(scope: Scope, tx: Tx, { key, fields }: Fields, field: Field): Promise<void> {
  const { verdict, hideable } = scope.actor.policy.recordAccess('records:read', key, fields)
  const hidden = [...fieldsComputedFrom(fields, field)].filter((one) => verdict !== 'all' || hideable.has(one))
  if (hidden.length === 0) return
  const tested = hidden.map((one) => `resource.${one}`)
  const [found] = await tx.query(findTestingRole({ workspaceId: scope.workspace.id, typeKey: key, tested }))
  if (found)
    throw problem(
      'FORBIDDEN',
      `A role tests what ${field.key} changes, so its formula may read only fields that you read in every record of ${key}`,
    )
}

/** Keys of the field and of those that are computed from it. */
function fieldsComputedFrom(fields: readonly Field[], field: Field): ReadonlySet<string> {
  const inputs = inputsOf(fields)
  return new Set([field.key, ...fields.map(({ key }) => key).filter((key) => inputs(key).includes(field.key))])
}
