import { markLongRecords } from '#shared/core/records/query/sizes-store.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'

/** Text of one record, in UTF-16 units, from which its type is known as one of long records: 200 of less fit into any memory. */
const longFrom = 20_000

/**
 * Notes it with a type when a record of these values is about to be written and is long: from then on pages of the type are measured before
 * they are read. Others are not, which saves every listing a sixth of its statement's time.
 */
export async function noteLongRecord({ db }: Scope, type: RecordType, values: Readonly<Record<string, unknown>>): Promise<void> {
  if (type.longRecords || textLength(values) < longFrom) return
  await db.query({ ...markLongRecords(type.workspaceId, type.id), repeatable: true })
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
