import { recordSchema } from '#shared/core/records/schemas.ts'
import { nullable, schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

/** Maximum number of changes in one batch. */
const maxBatchOperations = 500

/**
 * Budget steps for the formulas of one batch, about a microsecond each. Bounded because the batch's transaction holds locks on records
 * meanwhile.
 */
export const batchComputeSteps = 1_000_000

/** Maximum characters of text in all records of a batch's answer together. */
export const maxResultText = 10_000_000

const values = t.Record(t.String(), t.Unknown())
const id = t.String({ description: 'Id of the record.' })

const operation = t.Union([
  t.Object({ op: t.Literal('create'), values: t.Optional(values) }),
  t.Object({ op: t.Literal('update'), id, values }),
  t.Object({ op: t.Literal('delete'), id }),
  t.Object({
    op: t.Literal('upsert'),
    by: t.String({ description: 'Key of a unique field: the record that holds its value is changed, or one is created.' }),
    values,
  }),
])
const operations = t.Array(operation, { minItems: 1, maxItems: maxBatchOperations })
/** The changes of a batch, for a job that parses them from text. */
export const batchOperations = schema(operations)
export type BatchOperation = TypeOf<typeof batchOperations>[number]

/** Several changes of records of one type. */
export const batchInput = schema(
  t.Object(
    {
      operations,
      atomic: t.Optional(t.Boolean({ description: 'True: all changes or none. Otherwise each change succeeds or fails on its own.' })),
    },
    { title: 'Batch' },
  ),
)

const result = t.Object({
  status: t.Integer({ description: 'HTTP status of the answer that the change would get on its own.' }),
  record: nullable(recordSchema),
  error: nullable(t.Object({ code: t.String(), message: t.String() })),
})
export type BatchResult = TypeOf<typeof batchResults>['results'][number]

/** One result per change, in their order. */
export const batchResults = schema(t.Object({ results: t.Array(result) }, { title: 'BatchResults' }))
