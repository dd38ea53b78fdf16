import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { intersectRecordAccess } from '#shared/core/policy/grants/intersect-policies.ts'
import { recordAccessFor, requireRecordAccess } from '#shared/core/records/access.ts'
import { writeCsv } from '#shared/core/records/csv/write.ts'
import type { RecordQuery } from '#shared/core/records/query/query.ts'
import { findRecordsByIds } from '#shared/core/records/query/records-by-ids.ts'
import { findMatches } from '#shared/core/records/query/search-records.ts'
import type { StoredRecord } from '#shared/core/records/record.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { valueToCell } from '#shared/core/types/field-kinds/value.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { groupBySize } from '#shared/platform/kernel/values/group-by-size.ts'

/** Maximum records in one export. When more match, the export is marked as truncated (docs/contract/records.md#export). */
const maxExported = 10_000

/** Maximum records, and bytes of their text, in memory at once. */
const stepSize = { items: 200, size: 250_000 }

interface RecordExport {
  readonly total: number
  readonly truncated: boolean
  /** The file's bytes, some records at a time; `done` receives the number of records written so far. */
  readonly bytes: (done: (count: number) => Promise<void>) => AsyncGenerator<Buffer>
}

/**
 * Prepares a CSV of the matching records that the caller may export and read, newest first or in the query's order. Fields that the caller
 * may never see have no column; a field hidden in one record is a blank cell there. A caller that may read no record gets the header only.
 */
export async function prepareExport(scope: Scope, type: RecordType, query: RecordQuery): Promise<RecordExport> {
  const access = intersectRecordAccess(recordAccessFor(scope, type, 'records:read'), requireRecordAccess(scope, type, 'records:export'))
  const matches = await findMatches(scope, type, access, query, maxExported + 1)
  const exported = matches.slice(0, maxExported)
  const fields = type.fields.filter(({ key }) => !access.neverVisible.has(key))
  // An amount with its code, such as `-5 EUR`, is no formula, and readers expect it as it is.
  const plain = new Set(fields.flatMap(({ type: fieldType }, index) => (fieldType === 'currency' ? [leadingColumns.length + index] : [])))
  return {
    total: exported.length,
    truncated: matches.length > maxExported,
    async *bytes(done) {
      yield Buffer.from(writeCsv([[...leadingColumns, ...fields.map(({ key }) => key)]]))
      let written = 0
      for await (const group of groupBySize(exported, ({ bytes }) => bytes, stepSize)) {
        const ids = group.map(({ id }) => id)
        // A record may have changed since it matched, so the caller's access is tested again.
        const records = (await findRecordsByIds(scope, type, ids)).filter((record) => access.test(record))
        yield Buffer.from(
          writeCsv(
            records.map((record) => cellsOf(record, fields, access)),
            plain,
          ),
        )
        written += ids.length
        await done(written)
      }
    },
  }
}

const leadingColumns = ['id', 'created_at']

function cellsOf(record: StoredRecord, fields: readonly Field[], access: RecordAccess): string[] {
  const visible = access.alwaysVisible ? undefined : access.visibleFields(record)
  const cells = fields.map((field) => (visible?.has(field.key) === false ? '' : valueToCell(record.values[field.key] ?? null, field)))
  return [record.id, record.created_at, ...cells]
}
