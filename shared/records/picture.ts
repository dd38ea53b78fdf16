import { isOutdatedPicture } from '#shared/db/conflicts.ts'
import type { RecordAction } from '#shared/policy/permissions.ts'
import type { RecordAccess } from '#shared/policy/record-access.ts'
import { forbidden } from '#shared/scope/access.ts'
import type { Scope } from '#shared/scope/scope.ts'
import { type RecordType, requireRecordType } from '#shared/types/record-type.ts'

/** Does work from the picture of a record type, as `withPictures` does; throws NOT_FOUND when there is none. */
export const withRecordType = <T>(scope: Scope, typeKey: string, work: (type: RecordType) => Promise<T>): Promise<T> =>
  withPictures(scope, async () => work(await requireRecordType(scope, typeKey)))

/** How often work is begun while the types that it needs keep changing. */
const maxAttempts = 5

/**
 * Does work that takes pictures of record types itself. When somebody has changed a type since, the database knows a column of the picture
 * no more: then the work is done again, with pictures read again. It must leave nothing behind when it fails.
 */
export async function withPictures<T>(scope: Scope, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isOutdatedPicture(error)) throw error
      scope.cache.drop(scope.workspace.id)
      // A transaction is over with its first error: whoever opened it does it again.
      if ('inTransaction' in scope.db || attempt >= maxAttempts) throw error
    }
  }
}

/** What the caller may do by one action with the records of a type. */
export const accessTo = (scope: Scope, type: RecordType, action: RecordAction): RecordAccess =>
  scope.actor.policy.recordAccess(action, type.key, type.fields)

/** Throws FORBIDDEN when the caller may not do the action with any record of the type. */
export function requireAccess(scope: Scope, type: RecordType, action: RecordAction): RecordAccess {
  const access = accessTo(scope, type, action)
  if (access.verdict === 'none') throw forbidden(action, type.key)
  return access
}
