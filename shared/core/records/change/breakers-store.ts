import { valueColumns } from '#shared/core/records/record-columns.ts'
import { cachedStatement, tableOf } from '#shared/core/records/store.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { valueColumnsOf } from '#shared/core/types/tables/table-names.ts'
import { builder } from '#shared/platform/db/statements/builder.ts'
import { bigint, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { buildStatement, prepareStatement, slot, statement } from '#shared/platform/db/statements/statement.ts'

/**
 * The values of one field in the next `size` records after an id, oldest first. The statement is cached per field, so `size` must always be
 * the same for a field.
 */
export const pageOfField = (type: RecordType, field: Field, size: number) =>
  cachedStatement(type, `values ${field.column}`, () => {
    const query = builder
      .select('id', ...valueColumnsOf(field))
      .from(tableOf(type))
      .where('id', '>', slot('after') as never)
      .orderBy('id')
      .limit(size)
    return prepareStatement(query, { params: { after: uuid }, columns: { id: uuid.notNull, ...valueColumns([field]) } })
  })

/** Blocks writes to records of a type until the transaction ends. */
export const lockAgainstWrites = ({ schema, key }: RecordType) =>
  buildStatement(builder.raw('lock table ??.?? in share mode', [schema, key]))

/**
 * An entry id of 2 seconds ago. The margin is needed because ids of the same millisecond have no order, and because clocks are corrected.
 */
export const makeEntryId = statement('records.makeEntryId', `select uuidv7(interval '-2 seconds') as id`, {
  params: {},
  columns: { id: uuid.notNull },
})

/** Audit entries of a type's records after an entry, oldest first. */
export const findChangesAfter = statement(
  'records.findChangesAfter',
  `select id, record_id from audit_entries
   where workspace_id = $workspaceId and object_type = $typeKey and id > $afterId
   order by id limit $limit`,
  {
    params: { workspaceId: uuid, typeKey: text, afterId: uuid, limit: bigint },
    columns: { id: uuid.notNull, record_id: uuid.notNull },
  },
)
