import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { requireRecordAccess } from '#shared/core/records/access.ts'
import { type GroupValue, spanGroup, valueGroup } from '#shared/core/records/aggregate/group-values-store.ts'
import { requireNamedField } from '#shared/core/records/query/filter-tree.ts'
import { compileQuery, hideableFieldsOf, type RecordQuery } from '#shared/core/records/query/query.ts'
import { cachedSearchStatement } from '#shared/core/records/query/statement-cache.ts'
import { maxGroups, sumsOf, zoneValues } from '#shared/core/records/query/sum-store.ts'
import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import { requireSortable } from '#shared/core/types/field-kinds/filters/field-filter.ts'
import { trimAmount } from '#shared/core/types/field-kinds/number.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { type RecordType, requireRecordType } from '#shared/core/types/record-type.ts'
import { asArrays, asUnprepared } from '#shared/platform/db/statements/statement.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { zoneOffsets } from '#shared/platform/kernel/time/zone-offsets.ts'

/** A grouping key: a field's value, or the day or month of a date or instant. An instant is read in `timeZone`. */
type GroupKey = { readonly field: string } | { readonly field: string; readonly span: 'day' | 'month'; readonly timeZone: string }

/** The fields to sum, the grouping keys, and the query that selects the records. */
interface SumQuery extends Omit<RecordQuery, 'sort'> {
  /** Keys of number and currency fields. */
  readonly sums: readonly string[]
  readonly by?: readonly GroupKey[]
}

/** The sums of records with equal grouping values. */
interface SumGroup {
  /** The values of `by` in its order: text, `true`, `false`, or null for no value. Days are `2026-11-21`, months `2026-11`. */
  readonly by: readonly (string | boolean | null)[]
  /** Number of records in the group. */
  readonly count: number
  /** Exact sums by field key, one per currency in the order of their codes. `code` is null for a number field. */
  readonly sums: Readonly<Record<string, readonly CurrencySum[]>>
}

interface CurrencySum {
  readonly code: string | null
  /** Decimal text. */
  readonly amount: string
  /** Number of records with a value. */
  readonly count: number
}

/**
 * Sums fields of the matching records that the caller may read, exactly and in the database, in groups ordered by their values. No records,
 * no groups. Throws FORBIDDEN and VALIDATION_ERROR as `searchRecords` does, and VALIDATION_ERROR for more groups than `maxGroups` and for
 * a field that cannot be summed or grouped by.
 */
export async function sumRecords(scope: Scope, typeKey: string, query: SumQuery): Promise<SumGroup[]> {
  const type = await requireRecordType(scope, typeKey)
  const access = requireRecordAccess(scope, type, 'records:read')
  const compiled = await compileQuery(scope, type, access, query)
  const keys = (query.by ?? []).map((key) => compileGroupKey(type, hideableFieldsOf(access, query), key))
  const summed = query.sums.map((key) => requireSummable(type, access, query, key))
  const shape = JSON.stringify([keys.map(({ shape }) => shape), summed.map(({ key }) => key)])
  const fill = cachedSearchStatement(access, `sums ${shape} ${compiled.shape}`, () =>
    sumsOf(
      keys.map(({ value }) => value),
      summed,
      compiled,
    ),
  )
  const zones = await readZones(keys)
  const rows = await readRows(scope, asArrays(compiled.asSearch(asUnprepared(fill({ ...compiled.values, ...zones })))))
  return toGroups(rows, keys.length, summed)
}

/** Values of the parameters of the keys' time zones. */
async function readZones(keys: readonly CompiledGroupKey[]): Promise<Record<string, unknown>> {
  const values = {}
  for (const [index, { value, zone }] of keys.entries()) {
    if (value.hasZone) Object.assign(values, zoneValues(index, await zoneOffsets(zone)))
  }
  return values
}

interface CompiledGroupKey {
  readonly shape: string
  readonly value: GroupValue
  readonly zone: string
}

function compileGroupKey(type: RecordType, hideable: ReadonlySet<string>, key: GroupKey): CompiledGroupKey {
  const field = requireNamedField(type, hideable, key.field, 'by')
  requireSortable(field, 'by')
  if (field.type === 'currency') throw problem('VALIDATION_ERROR', `by: ${field.key} is a currency field and cannot be grouped by`)
  if (!('span' in key)) return { shape: field.key, value: valueGroup(field), zone: 'UTC' }
  if (field.type !== 'date' && field.type !== 'datetime') throw problem('VALIDATION_ERROR', `by: ${field.key} has no ${key.span}`)
  return {
    shape: `${field.key} ${key.span}`,
    value: spanGroup(field, key.span),
    zone: key.timeZone,
  }
}

function requireSummable(type: RecordType, access: RecordAccess, query: SumQuery, key: string): Field {
  const field = requireNamedField(type, hideableFieldsOf(access, query), key, 'sums')
  if (field.type !== 'number' && field.type !== 'currency') {
    throw problem('VALIDATION_ERROR', `sums: ${key} is a ${field.type} field and cannot be added up`)
  }
  return field
}

function toGroups(rows: readonly (readonly unknown[])[], keys: number, fields: readonly Field[]): SumGroup[] {
  const groups = new Map<string, { by: SumGroup['by']; count: number; sums: Record<string, CurrencySum[]> }>()
  for (const [count, ...cells] of rows) {
    const by = cells.slice(0, keys) as unknown as SumGroup['by']
    const group = groups.get(JSON.stringify(by)) ?? { by, count: 0, sums: Object.fromEntries(fields.map(({ key }) => [key, []])) }
    groups.set(JSON.stringify(by), group)
    const parts = fields.map((field, index) => ({ field, cells: cells.slice(keys + 4 * index, keys + 4 * index + 4) }))
    const currencyPart = parts.find(({ cells: [, , , isOfCurrency] }) => isOfCurrency)
    if (!currencyPart) group.count = Number(count)
    const summedParts = currencyPart ? [currencyPart] : parts.filter(({ field }) => field.codeColumn === null)
    for (const {
      field,
      cells: [sum, valueCount, code],
    } of summedParts) {
      if (sum !== null)
        group.sums[field.key]?.push({ code: code as string | null, amount: trimAmount(sum as string), count: Number(valueCount) })
    }
  }
  if (groups.size > maxGroups) throw problem('VALIDATION_ERROR', `by must make at most ${maxGroups} groups`)
  return [...groups.values()]
}
