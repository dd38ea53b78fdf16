import { isJsonObject } from '#shared/core/automation/template.ts'
import { recordAccessFor } from '#shared/core/records/access.ts'
import { findRecordsByIds } from '#shared/core/records/query/records-by-ids.ts'
import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { findRecordType } from '#shared/core/types/record-type.ts'

/** Output of a step that wrote a record. */
interface RecordOutput {
  readonly id: string
  readonly object_type: string
  readonly values: Readonly<Record<string, unknown>>
}

const isRecordOutput = (output: unknown): output is RecordOutput =>
  isJsonObject(output) && typeof output.id === 'string' && typeof output.object_type === 'string' && isJsonObject(output.values)

/**
 * Returns a function that reduces a step's record output, as of its write, to the fields the caller may read now; only the id of a record
 * that is deleted or not visible. Runs one statement per type.
 */
export async function createRecordViewer(scope: Scope, outputs: readonly unknown[]): Promise<(output: unknown) => unknown> {
  const visible = new Map<string, ReadonlySet<string>>()
  for (const [typeKey, ofType] of Map.groupBy(outputs.filter(isRecordOutput), ({ object_type }) => object_type)) {
    const type = await findRecordType(scope, typeKey)
    if (!type || !permits(scope, 'records:read', typeKey)) continue
    const access = recordAccessFor(scope, type, 'records:read')
    const ids = [...new Set(ofType.map(({ id }) => id))]
    for (const record of await findRecordsByIds(scope, type, ids)) {
      if (access.test(record)) visible.set(record.id, access.visibleFields(record))
    }
  }
  return (output) => {
    if (!isRecordOutput(output)) return null
    const shown = visible.get(output.id)
    const values = Object.entries(output.values).filter(([key]) => shown?.has(key))
    return { id: output.id, ...(shown ? { values: Object.fromEntries(values) } : {}) }
  }
}
