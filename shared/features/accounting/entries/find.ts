import { createReader, readRows, type Scope } from '#shared/core/scope/scope.ts'
import { readAmount, requireCurrency, writeAmount } from '#shared/features/accounting/amount.ts'
import { requireDay, requireDayOrder } from '#shared/features/accounting/days.ts'
import type { EntriesPage, EntriesQuery, Entry } from '#shared/features/accounting/entries/schemas.ts'
import { countEntries, type EntryFilter, findEntries, findEntry, type StoredEntry } from '#shared/features/accounting/entries/store.ts'
import { readWholeList } from '#shared/platform/db/lists.ts'
import { asSearch } from '#shared/platform/db/statements/statement.ts'
import { requireRow } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** Reads one entry. Throws NOT_FOUND. */
export const getEntry = async (scope: Scope, id: string): Promise<Entry> => viewOfEntry(await requireEntry(scope, id))

/** Reads one entry as it is stored. Throws NOT_FOUND. */
export const requireEntry = async (scope: Scope, id: string): Promise<StoredEntry> =>
  requireRow(isUuid(id) ? await readRows(scope, findEntry({ workspaceId: scope.workspace.id, id })) : [])

/** Reads a page of the matching entries, last posted first, and their total count. Throws VALIDATION_ERROR naming the filter. */
export async function listEntries(scope: Scope, { limit, offset, ...filters }: EntriesQuery): Promise<EntriesPage> {
  if (filters.currency !== undefined) requireCurrency(filters.currency)
  const filter: EntryFilter = {
    ...filters,
    from: filters.from === undefined ? undefined : requireDay(filters.from, 'from'),
    to: filters.to === undefined ? undefined : requireDay(filters.to, 'to'),
  }
  requireDayOrder(filter.from, filter.to)
  const [found] = await readRows(scope, asSearch(countEntries(scope.workspace.id, filter), 'the span of days'))
  const total = found?.total ?? 0
  const statement = asSearch(findEntries(scope.workspace.id, filter, limit, offset), 'the span of days')
  const hint = `limit must be less than ${limit} here`
  const rows = total > offset ? await readWholeList(createReader(scope), statement, hint) : []
  return { entries: rows.map(viewOfEntry), total }
}

/** Converts a stored entry to the answer's shape. */
export function viewOfEntry({ id, date, memo, source_type, source_id, currency, created_at, ...stored }: StoredEntry): Entry {
  const amount = (text: string): string => writeAmount(readAmount(text), currency)
  const lines = stored.lines.map((line) => ({ ...line, debit: amount(line.debit), credit: amount(line.credit) }))
  return {
    id,
    date,
    memo,
    source_type,
    source_id,
    total: amount(stored.total),
    currency,
    created_at,
    lines,
    ...(stored.reverses === null ? {} : { reverses: stored.reverses }),
    ...(stored.reversed_by === null ? {} : { reversed_by: stored.reversed_by }),
  }
}
