import { auditSlots } from '#shared/core/records/audit/audit-values.ts'
import { checkRecordGuards } from '#shared/core/records/change/check-guards.ts'
import { requireChangeable } from '#shared/core/records/change/update-record.ts'
import { requireVersion } from '#shared/core/records/record.ts'
import { deleteRecord } from '#shared/core/records/store.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { wakeAfterChange } from '#shared/platform/events/listen.ts'

/**
 * Deletes a record permanently; records that reference it keep its id. Throws NOT_FOUND when the caller may not read it, FORBIDDEN when it
 * may not delete it, PRECONDITION_FAILED when `ifMatch` names another version, and the problems of guards (shared/features.ts).
 */
export async function removeRecord(scope: Scope, type: RecordType, recordId: string, ifMatch = ''): Promise<void> {
  await scope.db.transaction(async (tx) => {
    const inside = within(scope, tx)
    const stored = await requireChangeable(inside, type, recordId, 'records:delete')
    requireVersion(stored, ifMatch)
    await checkRecordGuards(inside, type, { id: stored.id, before: stored.values, after: null })
    const slots = { ...auditSlots(inside, type, stored.values, null), id: stored.id, typeId: type.id }
    await tx.query(deleteRecord(type)(slots))
    await wakeAfterChange(inside, type.key, 'deleted')
  })
}
