import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { recordAccessFor } from '#shared/core/records/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { findRecordType, type RecordType } from '#shared/core/types/record-type.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** The records that a field names: their type and the caller's access to it. */
export interface ExpandTarget {
  readonly type: RecordType
  readonly access: RecordAccess
}

/** A `ref` or `refs` field whose records an answer carries, and the fields to follow in those records. */
export interface ExpandPath {
  readonly field: Field
  /** Undefined where the caller may read none of the records. */
  readonly target: ExpandTarget | undefined
  readonly next: readonly ExpandPath[]
}

const [maxPaths, maxSteps] = [10, 2]

/**
 * Reads `expand`, such as `customer,customer.owner_ref` (docs/contract/records.md#expanded-references). A path expands the field at which it
 * begins too. Throws VALIDATION_ERROR. Fields of a type that the caller may not read are not checked, so that none is revealed.
 */
export async function readExpandPaths(scope: Scope, type: RecordType, access: RecordAccess, text: string): Promise<ExpandPath[]> {
  const paths = text === '' ? [] : text.split(',')
  if (paths.length > maxPaths) throw problem('VALIDATION_ERROR', `expand must have at most ${maxPaths} paths, got ${paths.length}`)
  const steps = paths.map((path) => path.split('.'))
  const long = steps.find(({ length }) => length > maxSteps)
  if (long) throw problem('VALIDATION_ERROR', `expand: ${long.join('.')} must have at most ${maxSteps} steps`)
  return readSteps(scope, { type, access }, steps)
}

async function readSteps(scope: Scope, from: ExpandTarget, paths: readonly (readonly string[])[]): Promise<ExpandPath[]> {
  const found: ExpandPath[] = []
  for (const [key = '', following] of Map.groupBy(paths, ([first]) => first)) {
    const field = requireReference(from, key)
    const target = from.access.neverVisible.has(key) ? undefined : await readTarget(scope, field)
    const rest = following.map(([, ...next]) => next).filter(({ length }) => length > 0)
    found.push({ field, target, next: target ? await readSteps(scope, target, rest) : [] })
  }
  return found
}

function requireReference({ type }: ExpandTarget, key: string): Field {
  const field = type.fieldByKey.get(key)
  if (field?.type !== 'ref' && field?.type !== 'refs')
    throw problem('VALIDATION_ERROR', `expand must name ref or refs fields of ${type.key}, got ${key}`)
  return field
}

async function readTarget(scope: Scope, { rules }: Field): Promise<ExpandTarget | undefined> {
  const type = rules.ref_type === undefined ? undefined : await findRecordType(scope, rules.ref_type)
  if (!type) return undefined
  const access = recordAccessFor(scope, type, 'records:read')
  return access.verdict === 'none' ? undefined : { type, access }
}
