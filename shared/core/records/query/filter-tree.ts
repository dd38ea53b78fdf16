import { isDeepStrictEqual } from 'node:util'
import type { StoredRecord } from '#shared/core/records/record.ts'
import { instantFilter } from '#shared/core/types/field-kinds/dates.ts'
import type { FilteredField } from '#shared/core/types/field-kinds/filters/field-filter.ts'
import { ownIdFilter } from '#shared/core/types/field-kinds/reference.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import type { FieldValue } from '#shared/platform/kernel/field-type.ts'
import { readKnownKeys } from '#shared/platform/kernel/known-keys.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { parseJson } from '#shared/platform/kernel/values/json.ts'
import { isJsonObject } from '#shared/platform/kernel/values/json-schema.ts'

/** A condition on one field as callers write it (docs/contract/records.md#conditions). Without `op` the type's default operator applies. */
export interface Condition {
  readonly field: string
  readonly op?: string | undefined
  readonly value?: string | readonly string[] | undefined
}

/** A filter: one condition, a list of filters that must all hold, or a combination (docs/contract/records.md#filters). */
export type Filter =
  | Condition
  | readonly Filter[]
  | { readonly all: readonly Filter[] }
  | { readonly any: readonly Filter[] }
  | { readonly not: Filter }

/** The form of a filter, for messages. */
export const filterForm = 'a condition {field, op, value}, an array of filters, or {all}, {any} or {not}'

/** Maximum conditions of a filter. They bound the length of its statement. */
const maxConditions = 50
/** Maximum combinations around a condition. */
const maxDepth = 4

/** Maximum size of a filter that is stored and read with each change of a record, as compact JSON. */
const maxStoredBytes = 16 * 1_024

/** A part of a filter, with its path for messages. */
export interface Part {
  readonly filter: Filter
  readonly path: string
}

/** The parts of a list or a combination, and what joins them; undefined for a condition. */
export function partsOf(
  filter: Filter,
  path: string,
): { readonly joinedBy: 'and' | 'or' | 'not'; readonly filters: readonly Part[] } | undefined {
  const partsIn = (filters: readonly Filter[], where: string) =>
    filters.map((part, index) => ({ filter: part, path: `${where}[${index}]` }))
  if (isList(filter)) return { joinedBy: 'and', filters: partsIn(filter, path) }
  if ('all' in filter) return { joinedBy: 'and', filters: partsIn(filter.all, `${path}.all`) }
  if ('any' in filter) return { joinedBy: 'or', filters: partsIn(filter.any, `${path}.any`) }
  if ('not' in filter) return { joinedBy: 'not', filters: [{ filter: filter.not, path: `${path}.not` }] }
  return undefined
}

/** Whether a condition of the filter has this `field`. */
export const namesProperty = (filter: Filter, key: string): boolean => conditionsOf(filter).some(({ field }) => field === key)

/** The key of the `ref` field and the rest of a condition's `field` with a step, such as `customer.name`; undefined without one. */
export function stepOf(field: string): readonly [key: string, rest: string] | undefined {
  const dot = field.indexOf('.')
  return dot < 0 ? undefined : [field.slice(0, dot), field.slice(dot + 1)]
}

/** A condition of a filter, with its path for messages. */
interface PlacedCondition {
  readonly condition: Condition
  readonly path: string
}

/** The conditions of a filter at `path`. */
export function placedConditionsOf(filter: Filter, path: string): readonly PlacedCondition[] {
  const parts = partsOf(filter, path)
  return parts ? parts.filters.flatMap((part) => placedConditionsOf(part.filter, part.path)) : [{ condition: filter as Condition, path }]
}

/** The conditions of a filter. */
export const conditionsOf = (filter: Filter): readonly Condition[] => placedConditionsOf(filter, '').map(({ condition }) => condition)

const isList = (filter: Filter): filter is readonly Filter[] => Array.isArray(filter)

const condition = schema(
  t.Object({ field: t.String(), op: t.Optional(t.String()), value: t.Optional(t.Unknown()) }, { title: 'Condition' }),
)
const combinations = ['all', 'any', 'not'] as const

/**
 * Reads a filter from JSON text or JSON. Throws VALIDATION_ERROR that names the part and its rule, or an unknown key. Fields and operators
 * are checked when the filter is compiled for a type.
 */
export function readFilterTree(sent: unknown, path = 'filter'): Filter {
  const counted = { conditions: 0 }
  return readPart(typeof sent === 'string' ? readFilterJson(sent, path) : sent, path, 0, counted, path)
}

/**
 * Reads a filter that is stored to judge each change of a record. Throws VALIDATION_ERROR like `readFilterTree`, and above 16 KB
 * unless it is `present`, the one that is stored.
 */
export function readStoredFilter(sent: unknown, path = 'filter', present?: Filter): Filter {
  const filter = readFilterTree(sent, path)
  const bytes = Buffer.byteLength(JSON.stringify(filter))
  if (bytes <= maxStoredBytes || isDeepStrictEqual(filter, present)) return filter
  throw problem('VALIDATION_ERROR', `${path} must have at most 16 KB (${maxStoredBytes} bytes of compact JSON), got ${bytes} bytes`)
}

function readPart(sent: unknown, path: string, depth: number, counted: { conditions: number }, root: string): Filter {
  const readList = (filters: unknown, where: string): Filter[] => {
    if (!Array.isArray(filters)) throw problem('VALIDATION_ERROR', `${where} must be an array of filters`)
    // An empty list counts too, so that their number is bounded.
    if (filters.length === 0) countCondition(counted, root)
    return filters.map((part, index) => readPart(part, `${where}[${index}]`, where === path ? depth : depth + 1, counted, root))
  }
  if (Array.isArray(sent)) return readList(sent, path)
  if (!isJsonObject(sent)) throw problem('VALIDATION_ERROR', `${path} must be ${filterForm}`)
  const name = combinations.find((key) => Object.hasOwn(sent, key))
  if (name === undefined) {
    countCondition(counted, root)
    return condition.parse(
      readKnownKeys(sent, { body: condition.json, answer: undefined, stored: undefined }, path).value,
      path,
    ) as Condition
  }
  if (depth >= maxDepth) throw problem('VALIDATION_ERROR', `${path}: ${root} must have at most ${maxDepth} levels of all, any and not`)
  const other = Object.keys(sent).find((key) => key !== name)
  if (other !== undefined) throw problem('VALIDATION_ERROR', `${path} must have no other key beside ${name}, got ${other.slice(0, 100)}`)
  if (name === 'not') return { not: readPart(sent.not, `${path}.not`, depth + 1, counted, root) }
  const parts = readList(sent[name], `${path}.${name}`)
  return name === 'all' ? { all: parts } : { any: parts }
}

function countCondition(counted: { conditions: number }, root: string): void {
  counted.conditions += 1
  if (counted.conditions > maxConditions) throw problem('VALIDATION_ERROR', `${root} must have at most ${maxConditions} conditions`)
}

/** Reads the JSON text of a filter. Throws VALIDATION_ERROR. */
export function readFilterJson(text: string, path = 'filter'): unknown {
  try {
    return parseJson(text, path)
  } catch (cause) {
    if (cause instanceof Problem && !(cause.cause instanceof SyntaxError)) throw cause
    throw problem('VALIDATION_ERROR', `${path} must be the JSON of ${filterForm}`, { cause })
  }
}

/** What a condition tests: a field, or one of the properties that every record has. */
export interface ConditionTarget extends FilteredField {
  readonly column: string
  /** The field; undefined for a property. */
  readonly field?: Field
  readonly valueOf: (record: StoredRecord) => FieldValue
}

const properties: ReadonlyMap<string, ConditionTarget> = new Map(
  (
    [
      { key: 'id', type: 'ref', filter: ownIdFilter, valueOf: ({ id }) => id },
      { key: 'created_by', type: 'ref', filter: ownIdFilter, valueOf: ({ created_by }) => created_by },
      { key: 'created_at', type: 'datetime', filter: instantFilter, valueOf: ({ created_at }) => created_at },
      { key: 'updated_at', type: 'datetime', filter: instantFilter, valueOf: ({ updated_at }) => updated_at },
    ] satisfies Omit<ConditionTarget, 'column'>[]
  ).map((property) => [property.key, { ...property, column: property.key }]),
)

/** What a condition's `field` names. Throws the same VALIDATION_ERROR for a hideable and an unknown field, so that neither is revealed. */
export function conditionTarget(type: RecordType, hideable: ReadonlySet<string>, key: string, path: string): ConditionTarget {
  const property = properties.get(key)
  if (property) return property
  const field = requireNamedField(type, hideable, key, path)
  return { key, type: field.type, column: field.column, field, valueOf: ({ values }) => values[key] ?? null }
}

/** The field of a key. Throws the same VALIDATION_ERROR for a hideable and an unknown field, so that neither is revealed. */
export function requireNamedField(type: RecordType, hideable: ReadonlySet<string>, key: string, path: string): Field {
  const field = type.fieldByKey.get(key)
  if (!field || hideable.has(key)) throw problem('VALIDATION_ERROR', `${path} must be a field of ${type.key} that you may read, got ${key}`)
  return field
}
