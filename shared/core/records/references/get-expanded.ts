import { getRecordWithEtag } from '#shared/core/records/read.ts'
import { prepareExpansion } from '#shared/core/records/references/expand-records.ts'
import type { Scope } from '#shared/core/scope/scope.ts'

/** Same as `getRecordWithEtag`, with the records along the paths of `expand`. The ETag is that of the record itself. */
export async function getExpandedRecord(
  scope: Scope,
  typeKey: string,
  recordId: string,
  { expand, fields }: { readonly expand?: string | undefined; readonly fields?: string | undefined },
) {
  if (expand === undefined) return getRecordWithEtag(scope, typeKey, recordId, fields)
  const expansion = await prepareExpansion(scope, typeKey, expand, fields)
  const { record, etag } = await getRecordWithEtag(scope, typeKey, recordId, expansion.fields)
  const [expanded = record] = await expansion.expand([record])
  return { record: expanded, etag }
}
