import { valueColumnsOf } from '#shared/core/records/record.ts'
import { cachedStatement, tableOf } from '#shared/core/records/store.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { builder } from '#shared/platform/db/statements/builder.ts'
import { buildStatement, type Statement, type StatementTemplate, slot, sql } from '#shared/platform/db/statements/statement.ts'

/**
 * The values of one field in the next `size` records after an id (slot `after`), oldest first. The statement is cached per field, so `size`
 * must always be the same for a field.
 */
export const pageOfField = (type: RecordType, field: Field, size: number): StatementTemplate =>
  cachedStatement(type, `values ${field.column}`, () =>
    builder
      .select('id', ...valueColumnsOf(field))
      .from(tableOf(type))
      .where('id', '>', slot('after') as never)
      .orderBy('id')
      .limit(size),
  )

/** Blocks writes to records of a type until the transaction ends. */
export const lockAgainstWrites = ({ schema, key }: RecordType): Statement =>
  buildStatement(builder.raw('lock table ??.?? in share mode', [schema, key]))

/**
 * An entry id of 2 seconds ago. The margin is needed because ids of the same millisecond have no order, and because clocks are corrected.
 */
export const idOfNow = sql('mark_changes', `select uuidv7(interval '-2 seconds') as id`)

/** Audit entries of a type's records after an entry, oldest first. Values: workspace, type key, entry id, how many. */
export const changesAfter = sql(
  'changes_after',
  `select id, record_id from audit_entries where workspace_id = $1 and object_type = $2 and id > $3 order by id limit $4`,
)
