import { recordAccessFor } from '#shared/core/records/access.ts'
import type { BatchOperation, BatchResult } from '#shared/core/records/change/batch-schemas.ts'
import { isComputed } from '#shared/core/records/input.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { jsonDouble } from '#shared/platform/kernel/values/json.ts'
import { isJsonObject } from '#shared/platform/kernel/values/json-schema.ts'

/** What a change of a batch did: its result, and the id of the record that it created or changed; null for none. */
export interface BatchOutcome extends BatchResult {
  readonly recordId: string | null
}

export type SentValues = Readonly<Record<string, unknown>>

/** A reference to the record of an earlier operation: `{"$of": 0}` (docs/contract/records.md#records-of-the-same-batch). */
const isReference = (value: unknown): value is { readonly $of: unknown } => isJsonObject(value) && Object.hasOwn(value, '$of')

/** The references among the values of an operation, in their order. Only a value and the entries of a list can be one. */
const referencesIn = (values: SentValues) =>
  Object.entries(values).flatMap(([key, value]) =>
    (Array.isArray(value) ? value : [value]).flatMap((entry, place) =>
      isReference(entry) ? [{ reference: entry, path: `values.${key}${Array.isArray(value) ? `[${place}]` : ''}` }] : [],
    ),
  )

/**
 * Checks the form of the references of a batch before anything is changed: each must name a creation or an upsert that comes before its own
 * operation. Throws VALIDATION_ERROR that names the operation.
 */
export function requireEarlierOperations(operations: readonly Pick<BatchOperation, 'op'>[]): void {
  for (const [index, operation] of operations.entries()) {
    const values = 'values' in operation ? ((operation.values ?? {}) as SentValues) : {}
    for (const { reference, path } of referencesIn(values)) requireEarlier(operations, index, reference, `operations[${index}].${path}`)
  }
}

function requireEarlier(
  operations: readonly Pick<BatchOperation, 'op'>[],
  index: number,
  reference: { readonly $of: unknown },
  path: string,
): void {
  const other = Object.keys(reference).find((key) => key !== '$of')
  if (other !== undefined) throw problem('VALIDATION_ERROR', `${path} must have no key beside $of, got ${other.slice(0, 100)}`)
  const target = indexOf(reference)
  const named = operations[target]
  if (index === 0) throw problem('VALIDATION_ERROR', `${path}.$of must name an earlier operation, and operations[0] is the first`)
  if (!named || target >= index) {
    const found = named ? `operations[${target}] comes later` : `the batch has ${operations.length} operations`
    const reason = target === index ? 'that is the operation itself' : found
    const sent = JSON.stringify(reference.$of).slice(0, 100)
    throw problem(
      'VALIDATION_ERROR',
      `${path}.$of must be the index of an earlier operation, ${index === 1 ? '0' : `0 to ${index - 1}`}, got ${sent}: ${reason}`,
    )
  }
  if (named.op === 'update' || named.op === 'delete')
    throw problem(
      'VALIDATION_ERROR',
      `${path}.$of must name a create or an upsert, and operations[${target}] is ${named.op === 'update' ? 'an update' : 'a delete'}: send the id of the record instead`,
    )
}

/** The index that a reference names; -1 where it is no index. */
function indexOf({ $of }: { readonly $of: unknown }): number {
  const index = jsonDouble($of) ?? -1
  return Number.isInteger(index) && index >= 0 ? index : -1
}

/** The operations of a batch, and the outcomes of those that were done. */
export interface BatchProgress {
  readonly operations: readonly BatchOperation[]
  readonly outcomes: readonly BatchOutcome[]
}

/**
 * The values with an id for each reference in a `ref` or `refs` field. Throws VALIDATION_ERROR where the operation that a reference names
 * failed, and where its record is of another type than the field takes. References in other fields stay as they are: parsing the values
 * refuses them, as any value of a wrong form.
 */
export function resolveReferences(scope: Scope, type: RecordType, values: SentValues, progress: BatchProgress): SentValues {
  const references = referencesIn(values)
  if (references.length === 0) return values
  for (const { reference, path } of references) requireDone(progress, indexOf(reference), path)
  const { neverVisible } = recordAccessFor(scope, type, 'records:read')
  const resolved = Object.entries(values).map(([key, value]) => {
    const field = type.fieldByKey.get(key)
    const takes = field && !isComputed(field) ? field.rules.ref_type : undefined
    if (!field || takes === undefined) return [key, value]
    const toId = (entry: unknown, path: string): unknown => {
      if (!isReference(entry)) return entry
      const index = indexOf(entry)
      const made = progress.operations[index]?.type
      if (made === takes) return progress.outcomes[index]?.recordId
      // The type that a hidden field takes is not named.
      if (neverVisible.has(key)) return entry
      throw problem('VALIDATION_ERROR', `${path}.$of must name an operation on ${takes}, and operations[${index}] is on ${made}`)
    }
    const isList = field.type === 'refs' && Array.isArray(value)
    if (isList) return [key, value.map((entry, place) => toId(entry, `values.${key}[${place}]`))]
    return [key, field.type === 'ref' ? toId(value, `values.${key}`) : value]
  })
  return Object.fromEntries(resolved)
}

/** Throws VALIDATION_ERROR where the operation has left no record to name. */
function requireDone({ outcomes }: BatchProgress, index: number, path: string): void {
  const outcome = outcomes[index]
  if (outcome?.recordId != null) return
  throw problem(
    'VALIDATION_ERROR',
    `${path}.$of names operations[${index}], which failed with ${outcome?.error?.code ?? 'no record'}: send both again once it can succeed`,
  )
}
