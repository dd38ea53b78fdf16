import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * Throws FORBIDDEN when a computed field would show its reader what its formula made of fields that are hidden from it: by another formula,
 * or none, it would not be hidden any more, while its values stay for now. Whoever reads no record of the type gains nothing by that.
 */
export function requireComputedVisible({ actor }: Pick<Scope, 'actor'>, { key, fields }: RecordType, field: Field): void {
  const { verdict, hideable } = actor.policy.recordAccess('records:read', key, fields)
  if (field.rules.formula !== undefined && verdict !== 'none' && hideable.has(field.key)) throw unseen(key, field)
}

/** Throws FORBIDDEN unless the caller sees the field in every record: how many values break a rule tells something of each. */
export function requireFieldAlwaysVisible({ actor }: Pick<Scope, 'actor'>, { key, fields }: RecordType, field: Field): void {
  const { verdict, hideable } = actor.policy.recordAccess('records:read', key, fields)
  if (verdict !== 'all' || hideable.has(field.key)) throw unseen(key, field)
}

/** Whether a message may name a field of a type to the caller: who lists the type's fields sees all, else those that it reads in every record. */
export function createFieldNameFilter(scope: Pick<Scope, 'actor'>, { key, fields }: RecordType): (fieldKey: string) => boolean {
  if (permits(scope, 'fields:read', key)) return () => true
  const { verdict, hideable } = scope.actor.policy.recordAccess('records:read', key, fields)
  return (fieldKey) => verdict !== 'none' && !hideable.has(fieldKey)
}

const unseen = (typeKey: string, field: Field) => problem('FORBIDDEN', `Needs records:read of ${field.key} in every record of ${typeKey}`)
