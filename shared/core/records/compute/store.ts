import { auditedChange, auditSlots } from '#shared/core/records/audit/audit-values.ts'
import { keptValues } from '#shared/core/records/change/kept-values.ts'
import { textBytes } from '#shared/core/records/query/shown-columns-store.ts'
import { type StoredRecord, toColumnValues, type Values } from '#shared/core/records/record.ts'
import { recordColumnNames, recordColumns } from '#shared/core/records/record-columns.ts'
import { auditedRecords, auditedRecordsParams, cachedStatement, changeTimeSql, tableOf } from '#shared/core/records/store.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { valueColumnsOf } from '#shared/core/types/tables/table-names.ts'
import { builder } from '#shared/platform/db/statements/builder.ts'
import { json, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { prepareStatement, slot } from '#shared/platform/db/statements/statement.ts'
import { insertRecomputeEvents, recordEventParams } from '#shared/platform/events/inbox-store.ts'
import { nextInstant } from '#shared/platform/kernel/time/instant.ts'

// The second column is that of the type's edition, which every write names.
const touched = `"updated_at" = ${changeTimeSql('sent.next')}, ?? = null`

const computedFields = ({ computations }: RecordType) => computations.map(({ field }) => field)

/**
 * Stores the computed fields of records with their audit entries and events: one statement for all, with their ids and values as one JSON
 * array. No listener hears the events, since rules, flows and intake do not act on a recompute. Names of fields' columns end in a number, so
 * they never equal those of the other properties.
 */
export const setComputedValues = (type: RecordType) =>
  cachedStatement(type, 'recompute store', () => {
    const columns = computedFields(type).flatMap((field) =>
      valueColumnsOf(field).map((column, index) => ({ column, kind: fieldKinds[field.type].columns[index] ?? 'text' })),
    )
    const query = builder.raw(
      `with changed as (
         update ? as record set ${touched}${', ?? = sent.??'.repeat(columns.length)}
         from json_to_recordset(?::json)
           as sent (id uuid, next timestamptz, before jsonb, after jsonb, length integer, kept jsonb${columns.map(({ kind }) => `, ?? ${kind}`).join('')})
         where record.id = sent.id
         returning record.id, created_by, created_at, updated_at, sent.before, sent.after, sent.length, sent.kept
       ),
       audited as (?),
       announced as (?)
       select from audited limit 0`,
      [
        tableOf(type),
        type.editionColumn,
        ...columns.flatMap(({ column }) => [column, column]),
        slot('rows'),
        ...columns.map(({ column }) => column),
        auditedRecords('record.updated', `select id, before, after, length from changed where after <> '{}' order by id`),
        insertRecomputeEvents(),
      ],
    )
    return prepareStatement(query, { params: { rows: json, ...auditedRecordsParams, ...recordEventParams } })
  })

/** A record whose computed fields change: as it is stored, and all of its values after computing. */
export interface ComputedChange {
  readonly stored: StoredRecord
  readonly values: Values
}

/** `setComputedValues` of these changes. One that ends with the values that the record had gets no entry. `tested` are the keys that `findTestedKeys` found. */
export function storeComputedStatement(scope: Scope, type: RecordType, changes: readonly ComputedChange[], tested: ReadonlySet<string>) {
  const fields = computedFields(type)
  const rows = changes.map(({ stored, values }) => ({
    ...touchOf(stored),
    ...auditedChange(type, fields, stored.values, values),
    kept: keptValues(type, values, tested),
    ...toColumnValues(fields, values),
  }))
  return setComputedValues(type)({ ...auditSlots(scope, type, null, null), rows: JSON.stringify(rows) })
}

/** Empties the unique computed fields of records. */
export const clearUniqueValues = (type: RecordType) =>
  cachedStatement(type, 'recompute empty', () => {
    const columns = type.computations.flatMap(({ field }) => (field.unique ? valueColumnsOf(field) : []))
    const query = builder.raw(
      `update ? as record set ${touched}${', ?? = null'.repeat(columns.length)}
       from json_to_recordset(?::json) as sent (id uuid, next timestamptz) where record.id = sent.id`,
      [tableOf(type), type.editionColumn, ...columns, slot('rows')],
    )
    return prepareStatement(query, { params: { rows: json } })
  })

/** `clearUniqueValues` of these records. */
export const clearUniqueStatement = (type: RecordType, records: readonly StoredRecord[]) =>
  clearUniqueValues(type)({ rows: JSON.stringify(records.map(touchOf)) })

const touchOf = ({ id, updated_at }: StoredRecord) => ({ id, next: nextInstant(updated_at) })

/**
 * Maximum records, milliseconds and bytes of text that one transaction computes. Few records and milliseconds, because writers of these
 * records wait for the transaction; few bytes, because all of them are in memory at once.
 */
export const perStep = { records: 100, ms: 100, bytes: 4_000_000 }

/** Which records a recompute of a type reads: all, or those in which a unique computed field is empty. */
export type Selection = 'all' | 'empty'

/** The next records to compute after an id, locked. */
export const nextPage = (type: RecordType, selection: Selection) =>
  cachedStatement(type, `recompute page ${selection}`, () => {
    const columns = recordColumnNames(type)
    const page = builder
      .select(columns)
      .select({ bytes: textBytes(type) })
      .from(tableOf(type))
      .where('id', '>', slot('after'))
    if (selection === 'empty') {
      page.where((either) => {
        for (const { field } of type.computations) if (field.unique) either.orWhereNull(field.column)
      })
    }
    page.orderBy('id').limit(perStep.records).forUpdate()
    // Long text is read last, and only of the records that fit into `perStep.bytes`.
    const sized = builder
      .select('*')
      .select({ before: builder.raw('sum(bytes) over (order by id) - bytes') })
      .from(page.as('page'))
    const query = builder.select(columns).from(sized.as('sized')).where('before', '<', perStep.bytes).orderBy('id')
    return prepareStatement(query, { params: { after: uuid }, columns: recordColumns(type) })
  })
