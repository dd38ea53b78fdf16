import { type BatchOperation, maxResultText } from '#shared/core/records/change/batch-schemas.ts'
import { computeValues } from '#shared/core/records/compute/compute-values.ts'
import { parseValues } from '#shared/core/records/input.ts'
import { findRecordsByIds } from '#shared/core/records/query/records-by-ids.ts'
import { emptyValues, type StoredRecord, type Values } from '#shared/core/records/record.ts'
import { textLength } from '#shared/core/records/text-size.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { type RecordType, requireRecordType } from '#shared/core/types/record-type.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** The values of a record's computed fields after a change, and the type, input and version of the record that they follow from. */
interface Computed {
  readonly type: RecordType
  readonly input: Readonly<Record<string, unknown>>
  readonly updatedAt: string
  readonly values: Values
}

/** Values computed for the first change of each record of a batch, by the record's type and id. */
export type PrecomputedRecords = ReadonlyMap<string, Computed>

const keyOf = (typeKey: string, id: string): string => `${typeKey} ${id}`

/** Records read at once. */
const step = 50

/**
 * Computes, before a batch locks any record, the values that its updates lead to; no connection is held while computing. Records that
 * are missing here are computed by the change itself. `findPrecomputedValues` returns values that are still valid.
 */
export async function precomputeRecords(scope: Scope, operations: readonly BatchOperation[]): Promise<PrecomputedRecords> {
  const computed = new Map<string, Computed>()
  let text = 0
  for (const [typeKey, inputs] of firstInputs(operations)) {
    const type = await requireRecordType(scope, typeKey).catch(ignoreCallerMistake)
    if (!type || type.computations.length === 0) continue
    const ids = [...inputs.keys()]
    for (let from = 0; from < ids.length && text < maxResultText; from += step) {
      for (const record of await findRecordsByIds(scope, type, ids.slice(from, from + step))) {
        const found = await precompute(scope, type, record, inputs.get(record.id) ?? {})
        if (!found) continue
        computed.set(keyOf(typeKey, record.id), found)
        text += textLength(found.values)
      }
    }
  }
  return computed
}

/** The values of the first update of each record, by the key of its type and its id. */
function firstInputs(operations: readonly BatchOperation[]): ReadonlyMap<string, ReadonlyMap<string, Computed['input']>> {
  const byType = new Map<string, Map<string, Computed['input']>>()
  for (const operation of operations) {
    if (operation.op !== 'update' || !isUuid(operation.id)) continue
    const inputs = byType.get(operation.type) ?? new Map<string, Computed['input']>()
    byType.set(operation.type, inputs)
    const id = operation.id.toLowerCase()
    if (!inputs.has(id)) inputs.set(id, operation.values)
  }
  return byType
}

/** The precomputed fields of a record; undefined unless they were computed from this type, input and version of the record. */
export function findPrecomputedValues(
  precomputed: PrecomputedRecords | undefined,
  type: RecordType,
  stored: StoredRecord,
  input: Computed['input'],
): Values | undefined {
  const found = precomputed?.get(keyOf(type.key, stored.id))
  const isValid = found?.type === type && found.input === input && found.updatedAt === stored.updated_at
  return isValid ? found.values : undefined
}

async function precompute(scope: Scope, type: RecordType, record: StoredRecord, input: Computed['input']): Promise<Computed | undefined> {
  let next: Values
  try {
    next = Object.assign(emptyValues(), record.values, parseValues(type, input, { defaultCurrency: scope.workspace.default_currency }))
  } catch (error) {
    return ignoreCallerMistake(error)
  }
  await computeValues(scope, type, next)
  const values = emptyValues()
  for (const { field } of type.computations) values[field.key] = next[field.key] ?? null
  return { type, input, updatedAt: record.updated_at, values }
}

/** Ignores a mistake of the caller, which the change itself will report. Rethrows any other error. */
function ignoreCallerMistake(error: unknown): undefined {
  if (!(error instanceof Problem) || error.status >= 500) throw error
}
