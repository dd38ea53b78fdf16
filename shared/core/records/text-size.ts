import { markLongRecords } from '#shared/core/records/query/read-store.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'

/** UTF-16 units of text from which a record counts as long and its type is marked. A page of 200 shorter records fits into memory. */
const minLongRecordText = 20_000

/**
 * Marks the type when a record to be written is long. Pages of a marked type are measured before they are read; listings of other types do
 * not measure, which saves a sixth of their statement's time.
 */
export async function noteLongRecord({ db }: Scope, type: RecordType, values: Readonly<Record<string, unknown>>): Promise<void> {
  if (type.longRecords || textLength(values) < minLongRecordText) return
  await db.query({ ...markLongRecords({ workspaceId: type.workspaceId, typeId: type.id }), repeatable: true })
}

/** UTF-16 units of the texts among a record's values. */
export function textLength(values: Readonly<Record<string, unknown>>): number {
  let length = 0
  for (const value of Object.values(values)) {
    if (typeof value === 'string') length += value.length
    else if (Array.isArray(value)) for (const entry of value as string[]) length += entry.length
  }
  return length
}
