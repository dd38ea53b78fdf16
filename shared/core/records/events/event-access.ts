import { testedFields } from '#shared/core/policy/conditions/condition.ts'
import type { RecordAccess } from '#shared/core/policy/evaluate.ts'
import { recordAccessFor } from '#shared/core/records/access.ts'
import { readRulesOf, seesEarlierFields } from '#shared/core/records/earlier-fields.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { findRecordType, type RecordType } from '#shared/core/types/record-type.ts'

/** The caller's access to the records of one type as events tell of them. */
export interface EventAccess {
  readonly type: RecordType
  /** Keys of the fields that a rule could hide from the caller. */
  readonly hideable: ReadonlySet<string>
  /** Whether values that belong to no present field are shown. */
  readonly showsEarlierFields: boolean
  /** Access to a record of which the values are known that belong to the fields that `isKnown` accepts. */
  readonly of: (isKnown: (key: string) => boolean) => RecordAccess
}

/** Reads the caller's access by type; undefined for a type that is gone, or whose records the caller may never read. */
export async function findEventAccess(scope: Scope, typeKey: string): Promise<EventAccess | undefined> {
  const type = await findRecordType(scope, typeKey)
  if (!type) return undefined
  const { policy } = scope.actor
  const whole = recordAccessFor(scope, type, 'records:read')
  if (whole.verdict === 'none') return undefined
  const tested = [...new Set(readRulesOf(policy, typeKey).flat().flatMap(testedFields))].filter((key) => type.fieldByKey.has(key))
  const compiled = new Map<string, RecordAccess>()
  return {
    type,
    hideable: whole.hideable,
    showsEarlierFields: seesEarlierFields(scope, typeKey),
    of(isKnown) {
      const unknown = tested.filter((key) => !isKnown(key))
      if (unknown.length === 0) return whole
      const name = unknown.join()
      const access = compiled.get(name) ?? policy.recordAccessWithout('records:read', type.key, type.fields, new Set(unknown))
      compiled.set(name, access)
      return access
    },
  }
}
