import { recordSchema } from '#shared/core/records/schemas.ts'
import { nullable, schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'
import { parseStoredJson } from '#shared/platform/kernel/values/json.ts'

/** Maximum number of changes in one batch. */
const maxBatchOperations = 500

/**
 * Budget steps for the formulas of one batch, about a microsecond each. Bounded because the batch's transaction holds locks on records
 * meanwhile.
 */
export const batchComputeSteps = 1_000_000

/** Maximum characters of text in all records of a batch's answer together. */
export const maxResultText = 10_000_000

const values = t.Record(t.String(), t.Unknown(), {
  description: 'By field key. The id in a ref field or in a list of refs may be {"$of": n}: the record of operations[n], an earlier one.',
})
const id = t.String({ description: 'Id of the record.' })
const by = t.String({ description: 'Key of a unique field: the record that holds its value is changed, or one is created.' })

/** The properties of each kind of operation, without the type of the record. */
const properties = {
  create: { op: t.Literal('create'), values: t.Optional(values) },
  update: { op: t.Literal('update'), id, values },
  delete: { op: t.Literal('delete'), id },
  upsert: { op: t.Literal('upsert'), by, values },
} as const

const operation = t.Union([
  t.Object(properties.create),
  t.Object(properties.update),
  t.Object(properties.delete),
  t.Object(properties.upsert),
])

const type = t.String({ description: 'Key of the record type.' })
const typedOperation = t.Union([
  t.Object({ type, ...properties.create }),
  t.Object({ type, ...properties.update }),
  t.Object({ type, ...properties.delete }),
  t.Object({ type, ...properties.upsert }),
])

const atLeastOne = { minItems: 1, maxItems: maxBatchOperations } as const
const operations = t.Array(operation, atLeastOne)
const typedOperations = t.Array(typedOperation, atLeastOne)
const atomic = t.Optional(t.Boolean({ description: 'True: all changes or none. Otherwise each change succeeds or fails on its own.' }))

/** Several changes of records of one type, which the path names. */
export const batchInput = schema(t.Object({ operations, atomic }, { title: 'Batch' }))

/** Several changes of records of any types. */
export const typedBatchInput = schema(t.Object({ operations: typedOperations, atomic }, { title: 'WorkspaceBatch' }))

const ofOneType = schema(operations)
const ofAnyTypes = schema(typedOperations)
export type BatchOperation = TypeOf<typeof ofAnyTypes>[number]

/** Parses the operations of a job from JSON text. They are of the type of this key, or name their types where it is null. */
export function parseOperations(text: string, typeKey: string | null): BatchOperation[] {
  const sent = parseStoredJson(text)
  if (typeKey === null) return ofAnyTypes.parse(sent, 'operations')
  return ofOneType.parse(sent, 'operations').map((one) => ({ type: typeKey, ...one }))
}

const result = t.Object({
  status: t.Integer({ description: 'HTTP status of the answer that the change would get on its own.' }),
  record: nullable(recordSchema),
  error: nullable(t.Object({ code: t.String(), message: t.String() })),
})
export type BatchResult = TypeOf<typeof batchResults>['results'][number]

/** One result per change, in their order. */
export const batchResults = schema(t.Object({ results: t.Array(result) }, { title: 'BatchResults' }))
