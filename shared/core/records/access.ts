import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import type { RecordAction } from '#shared/core/policy/permissions.ts'
import { forbidden } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { type RecordType, requireRecordType } from '#shared/core/types/record-type.ts'

/** Runs `work` with the metadata of a record type. Throws NOT_FOUND when the type does not exist. */
export const withRecordType = async <T>(scope: Scope, typeKey: string, work: (type: RecordType) => Promise<T>): Promise<T> =>
  work(await requireRecordType(scope, typeKey))

/** The caller's access to the records of a type for one action. */
export const recordAccessFor = (scope: Scope, type: RecordType, action: RecordAction): RecordAccess =>
  scope.actor.policy.recordAccess(action, type.key, type.fields)

/** Same as `recordAccessFor`. Throws FORBIDDEN when the caller may not do the action with any record of the type. */
export function requireRecordAccess(scope: Scope, type: RecordType, action: RecordAction): RecordAccess {
  const access = recordAccessFor(scope, type, action)
  if (access.verdict === 'none') throw forbidden(action, type.key)
  return access
}
