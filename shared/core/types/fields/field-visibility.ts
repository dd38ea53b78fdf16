import { inputsOf } from '#shared/core/policy/fields/field-access.ts'
import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * Throws FORBIDDEN when the formula of a field reads fields hidden from the caller. Once it is set, changed or removed, or its results are
 * limited, the time of a record's change tells whether a result changed. A caller who cannot read records of the type is allowed, since
 * nothing is revealed to it.
 */
export function requireComputedVisible(
  { actor }: Pick<Scope, 'actor'>,
  { key, fields }: Pick<RecordType, 'key' | 'fields'>,
  field: Field,
): void {
  const { verdict, hideable } = actor.policy.recordAccess('records:read', key, fields)
  if (field.rules.formula !== undefined && verdict !== 'none' && hideable.has(field.key)) throw notVisible(key, field)
}

/** Throws FORBIDDEN unless the caller sees the field in every record: a count of rule violations discloses values. */
export function requireFieldAlwaysVisible(scope: Pick<Scope, 'actor'>, type: RecordType, field: Field): void {
  if (!isFieldAlwaysVisible(scope, type, field)) throw notVisible(type.key, field)
}

/** Whether the caller sees the field in every record of the type. */
export function isFieldAlwaysVisible({ actor }: Pick<Scope, 'actor'>, { key, fields }: RecordType, field: Field): boolean {
  const { verdict, hideable } = actor.policy.recordAccess('records:read', key, fields)
  return verdict === 'all' && !hideable.has(field.key)
}

/**
 * Throws FORBIDDEN unless the caller sees every input of the unique fields that `field` changes: DUPLICATE_VALUE would tell what their
 * formulas read (docs/contract/types-and-fields.md#rights-on-definitions). `fields` are those of the type after the change.
 */
export function requireUniqueInputsVisible({ actor }: Pick<Scope, 'actor'>, typeKey: string, fields: readonly Field[], field: Field): void {
  const { verdict, hideable } = actor.policy.recordAccess('records:read', typeKey, fields)
  const inputs = inputsOf(fields.map((one) => ({ ...one, staleReads: [] })))
  for (const unique of fields.filter((one) => one.unique && one.reads !== undefined)) {
    if (inputs(unique.key).includes(field.key) && (verdict !== 'all' || hideable.has(unique.key)))
      throw problem('FORBIDDEN', `${unique.key} is unique, so its formula may read only fields that you read in every record of ${typeKey}`)
  }
}

/**
 * Returns a predicate: whether a message may name a field of the type to the caller. With `fields:read` all fields may be named, otherwise
 * those that the caller can read in every record.
 */
export function createFieldNameFilter(scope: Pick<Scope, 'actor'>, { key, fields }: RecordType): (fieldKey: string) => boolean {
  if (permits(scope, 'fields:read', key)) return () => true
  const { verdict, hideable } = scope.actor.policy.recordAccess('records:read', key, fields)
  return (fieldKey) => verdict !== 'none' && !hideable.has(fieldKey)
}

const notVisible = (typeKey: string, field: Field) =>
  problem('FORBIDDEN', `Needs records:read of ${field.key} in every record of ${typeKey}`)
