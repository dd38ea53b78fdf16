import { requireRecordAccess } from '#shared/core/records/access.ts'
import { valuesOfZone } from '#shared/core/records/aggregate/group-values-store.ts'
import { type Group, type Metric, readGroups, readMetrics } from '#shared/core/records/aggregate/read-request.ts'
import { type AggregateOrder, aggregateOf, codedFields, isByCurrency, zoneSlots } from '#shared/core/records/aggregate/store.ts'
import { compileQuery } from '#shared/core/records/query/query.ts'
import { readSearch } from '#shared/core/records/query/read-search.ts'
import { cachedSearchStatement } from '#shared/core/records/query/statement-cache.ts'
import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import { trimAmount } from '#shared/core/types/field-kinds/number.ts'
import { requireRecordType } from '#shared/core/types/record-type.ts'
import type { ByteLimit } from '#shared/platform/db/statements/byte-limit.ts'
import { asArrays, asSearch, asUnprepared } from '#shared/platform/db/statements/statement.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { pauseWhenDue } from '#shared/platform/kernel/process/thread-share.ts'
import { isTimeZone } from '#shared/platform/kernel/time/time-zone.ts'
import { zoneOffsets } from '#shared/platform/kernel/time/zone-offsets.ts'
import { toJsonNumber } from '#shared/platform/kernel/values/json.ts'

/** The parameters of an aggregate, as the address has them. */
export interface AggregateQuery {
  readonly metrics: string
  readonly group_by?: string | undefined
  readonly tz?: string | undefined
  readonly q?: string | undefined
  readonly filter?: string | undefined
  readonly sort?: string | undefined
  readonly dir?: 'asc' | 'desc' | undefined
  readonly limit: number
}

/** Maximum bytes of the rows of an answer. */
const maxBytes = 10_000_000

interface AggregateGroup {
  readonly by: Readonly<Record<string, unknown>>
  readonly metrics: Readonly<Record<string, unknown>>
}

/**
 * Counts and measures the matching records that the caller may read, in groups (docs/contract/records.md#aggregates), by one statement.
 * Throws FORBIDDEN when the caller may read no record of the type, and VALIDATION_ERROR that names the parameter: also for a field that a
 * rule could hide from the caller.
 */
export async function aggregateRecords(
  scope: Scope,
  typeKey: string,
  query: AggregateQuery,
): Promise<{ groups: AggregateGroup[]; total_groups: number }> {
  const type = await requireRecordType(scope, typeKey)
  const access = requireRecordAccess(scope, type, 'records:read')
  const groups = readGroups(type, access.hideable, query.group_by)
  const metrics = readMetrics(type, access.hideable, query.metrics)
  const order = readOrder(groups, metrics, query)
  const zone = query.tz ?? scope.workspace.timezone
  if (!isTimeZone(zone)) throw problem('VALIDATION_ERROR', `tz must be an IANA time zone such as Europe/Berlin, got ${zone}`)
  const { filter, q } = readSearch({ filter: query.filter, q: query.q })
  const compiled = await compileQuery(scope, type, access, { filter, q })
  const shape = JSON.stringify([groups.map(({ name }) => name), metrics.map(({ name }) => name), order])
  const statement = cachedSearchStatement(access, `aggregate ${shape} ${compiled.shape}`, () =>
    aggregateOf({ groups, metrics, order }, compiled),
  )
  const values = {
    ...(groups.some(({ value }) => value.hasZone) ? valuesOfZone(zoneSlots, await zoneOffsets(zone)) : {}),
    currency: scope.workspace.default_currency,
    limit: query.limit,
  }
  const fit: ByteLimit = { maxBytes, bytes: 0, isWhole: true }
  const named = [...(filter === undefined ? [] : ['filter']), ...(q ? ['q'] : []), 'metrics'].join(' and ')
  const search = asSearch(asUnprepared(statement({ ...compiled.values, ...values })), named, compiled.limitingRoles)
  const rows = await readRows(scope, { ...asArrays(search), byteLimit: fit })
  if (!fit.isWhole) throw problem('VALIDATION_ERROR', `limit must be less than ${query.limit} here: the groups have more than 10 MB`)
  return toAnswer(scope, rows, groups, metrics)
}

function readOrder(groups: readonly Group[], metrics: readonly Metric[], { sort, dir }: AggregateQuery): AggregateOrder {
  if (sort === undefined) return { by: null, dir: dir ?? 'asc' }
  const group = groups.findIndex(({ name }) => name === sort)
  if (group >= 0) return { by: { group }, dir: dir ?? 'asc' }
  const metric = metrics.findIndex(({ name }) => name === sort)
  if (metric < 0) throw problem('VALIDATION_ERROR', `sort must be one of the requested groups or metrics, got ${sort}`)
  return { by: { metric }, dir: dir ?? 'desc' }
}

/** Rows that are read between two looks at the share of the thread. */
const rowsPerPause = 200

/** Rows come group by group; the first of a group is that of the whole group. */
async function toAnswer({ db }: Scope, rows: readonly (readonly unknown[])[], groups: readonly Group[], metrics: readonly Metric[]) {
  const coded = codedFields(metrics)
  const found = new Map<unknown, { by: Record<string, unknown>; metrics: Record<string, unknown> }>()
  for (const [number, [position, , ...cells]] of rows.entries()) {
    if (number % rowsPerPause === 0) await pauseWhenDue(db.owner)
    const codes = cells.slice(groups.length, groups.length + coded.length)
    const measured = cells.slice(groups.length + coded.length)
    const group = found.get(position)
    if (!group) {
      const by = Object.fromEntries(groups.map(({ name, field }, index) => [name, groupValue(field?.type, cells[index])]))
      found.set(position, {
        by,
        metrics: Object.fromEntries(metrics.map((metric, index) => [metric.name, wholeValue(metric, measured[index])])),
      })
      continue
    }
    const index = codes.findIndex((code) => code !== null)
    if (index < 0) continue
    for (const [at, metric] of metrics.entries())
      if (isByCurrency(metric) && metric.field === coded[index])
        (group.metrics[metric.name] as object[]).push({ amount: exactNumber(measured[at] as string), code: codes[index] })
  }
  return { groups: [...found.values()], total_groups: Number(rows[0]?.[1] ?? 0) }
}

const groupValue = (type: string | undefined, cell: unknown): unknown =>
  type === 'number' && cell !== null ? toJsonNumber(cell as string) : cell

function wholeValue(metric: Metric, cell: unknown): unknown {
  if (isByCurrency(metric)) return []
  if (metric.fn === 'count' || metric.fn === 'distinct') return Number(cell)
  if (cell === null || metric.field?.type !== 'number') return cell
  return exactNumber(cell as string)
}

const exactNumber = (text: string) => toJsonNumber(trimAmount(text))
