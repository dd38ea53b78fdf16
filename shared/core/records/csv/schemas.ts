import { schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

/** Query parameters of an import: how its file is read and what its rows do (docs/contract/records.md#parameters-of-an-import). */
export const importParameters = t.Object({
  upsert_by: t.Optional(
    t.String({
      minLength: 1,
      description: 'Key of a unique field: a row with the value of a record changes it, any other row creates one.',
    }),
  ),
  map: t.Optional(
    t.String({
      description: 'JSON of column names, each with the key of the field that it fills, or null for a column that is left out.',
    }),
  ),
  decimal: t.Optional(
    t.Enum(['.', ','], { description: 'The decimal sign of numbers and amounts, whose thousands may then be separated.' }),
  ),
  dates: t.Optional(
    t.Enum(['ymd', 'dmy', 'mdy'], {
      description: 'Order of year, month and day in dates, which are separated by -, / or . and have one or two digits for day and month.',
    }),
  ),
  dry_run: t.Optional(t.Boolean({ description: 'True: judges every row and writes nothing.' })),
})
export const importQuery = schema(importParameters)
export type ImportQuery = TypeOf<typeof importQuery>

/** Result of an import (docs/contract/records.md#rows): rows are independent, a bad row is reported and skipped. */
export const importOutcome = schema(
  t.Object(
    {
      created: t.Integer({ minimum: 0 }),
      updated: t.Integer({ minimum: 0, description: 'Rows that changed a record; 0 without upsert_by.' }),
      unchanged: t.Integer({ minimum: 0, description: 'Rows whose values their record had already; 0 without upsert_by.' }),
      failed: t.Integer({ minimum: 0 }),
      errors: t.Array(
        t.Object({
          row: t.Integer({ minimum: 1, description: 'Counts data rows from 1, without the header.' }),
          column: t.Optional(t.String({ description: 'Name of the column whose field the message names.' })),
          message: t.String(),
        }),
      ),
      ignored_columns: t.Array(t.String(), { description: 'Columns of the file that name no field, in their order.' }),
    },
    { title: 'ImportOutcome' },
  ),
)
export type RefusedRow = TypeOf<typeof importOutcome>['errors'][number]
