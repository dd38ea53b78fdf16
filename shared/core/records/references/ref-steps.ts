import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { recordAccessFor } from '#shared/core/records/access.ts'
import { conditionsOf, type Filter, stepOf } from '#shared/core/records/query/filter-tree.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { findRecordType, type RecordType } from '#shared/core/types/record-type.ts'

/** The step of a filter along a `ref` field: the type of the record that the field names, and the caller's access to it. */
export interface RefStep {
  readonly field: Field
  readonly target: RecordType
  readonly access: RecordAccess
  /** Number of the filter's conditions that take the step. */
  readonly conditions: number
}

/** The steps of a filter by the key of their `ref` field. */
export type RefSteps = ReadonlyMap<string, RefStep>

const noSteps: RefSteps = new Map()

/**
 * Reads the types to which the conditions of a filter step, such as `customer.name`. A field that is no `ref` of a known type has no step;
 * compiling the filter refuses it.
 */
export async function readRefSteps(scope: Scope, type: RecordType, filter: Filter): Promise<RefSteps> {
  const keys = conditionsOf(filter).flatMap(({ field }) => stepOf(field)?.[0] ?? [])
  if (keys.length === 0) return noSteps
  const steps = new Map<string, RefStep>()
  for (const [key, { length: conditions }] of Map.groupBy(keys, (one) => one)) {
    const field = type.fieldByKey.get(key)
    if (field?.type !== 'ref' || field.rules.ref_type === undefined) continue
    const target = await findRecordType(scope, field.rules.ref_type)
    if (target) steps.set(key, { field, target, access: recordAccessFor(scope, target, 'records:read'), conditions })
  }
  return steps
}
