import {
  auditedRecords,
  auditedRecordsParams,
  cachedStatement,
  countChangedRecords,
  countParams,
  tableOf,
} from '#shared/core/records/store.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { valueColumnsOf } from '#shared/core/types/tables/table-names.ts'
import { builder } from '#shared/platform/db/statements/builder.ts'
import { integer, json, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { prepareStatement, slot } from '#shared/platform/db/statements/statement.ts'
import { insertRecordEvents, recordEventParams } from '#shared/platform/events/inbox-store.ts'

/**
 * Stores new records with their audit entries and events, and returns the positions of the stored records. The rows are one
 * JSON array with a column for every field, so that a type has a single such statement, however many rows there are and whichever fields
 * have values. The database makes the ids one after the other, so their order is that of the rows.
 */
export const insertRecords = (type: RecordType) =>
  cachedStatement(type, 'insert many', () => {
    const columns = type.fields.flatMap(valueColumnsOf)
    const names = columns.map(() => ', ??').join('')
    const query = builder.raw(
      `with fresh as materialized (
         select uuidv7() as id, sent.* from json_to_recordset(?::json) as sent (position integer, after jsonb, length integer${definitions(type.fields)})
       ),
       changed as (
         insert into ? (id, created_by, created_at, updated_at, ??${names})
         select id, ?::uuid, uuid_extract_timestamp(id), uuid_extract_timestamp(id), null::boolean${names} from fresh
         on conflict do nothing
         returning id, created_by, created_at, updated_at
       ),
       audited as (?),
       counted as (?),
       announced as (?)
       select position from changed join fresh using (id)`,
      [
        slot('rows'),
        ...columns,
        tableOf(type),
        type.editionColumn,
        ...columns,
        slot('createdBy'),
        ...columns,
        auditedRecords('record.created', 'select id, null::jsonb, after, length from changed join fresh using (id) order by position'),
        countChangedRecords(1),
        insertRecordEvents('created'),
      ],
    )
    return prepareStatement(query, {
      params: {
        rows: json,
        createdBy: uuid.orNull,
        ...auditedRecordsParams,
        ...countParams,
        ...recordEventParams,
      },
      columns: { position: integer.notNull },
    })
  })

/**
 * Definitions of the fields' columns in the JSON rows, named as in the table. Such a name ends in a number, so it never equals `position`,
 * `after` or `length`.
 */
const definitions = (fields: readonly Field[]): string =>
  fields.flatMap(({ type }) => fieldKinds[type].columns.map((column) => `, ?? ${column}`)).join('')
