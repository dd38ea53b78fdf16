import { filterJson } from '#shared/core/records/schemas.ts'
import { schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

/** Maximum records that one call changes or deletes by a filter. */
export const maxMatching = 10_000

/** Records changed in one transaction, together with a checkpoint. */
export const matchingPerStep = 100

/** Budget steps for the formulas of the records of one transaction, about a microsecond each. */
export const matchingComputeSteps = 1_000_000

/** Which records to change, and the values to set. */
export const updateMatchingInput = schema(
  t.Object(
    {
      filter: filterJson,
      values: t.Record(t.String(), t.Unknown(), { description: 'Fields that are not sent keep their values; null clears a field.' }),
    },
    { title: 'UpdateWhere' },
  ),
)

/** Which records to delete. */
export const deleteMatchingInput = schema(t.Object({ filter: filterJson }, { title: 'DeleteWhere' }))

/** What a change of matching records did. */
export const matchingOutcome = schema(
  t.Object(
    {
      matched: t.Integer({ minimum: 0, description: 'Records that matched when they were about to be changed.' }),
      changed: t.Integer({ minimum: 0, description: 'Records among them that were changed or deleted.' }),
      skipped: t.Array(t.Object({ id: uuid, code: t.String() }), {
        description: 'Records among them that were refused, each with the error code that a change of it alone would get.',
      }),
    },
    { title: 'MatchingOutcome' },
  ),
)
export type MatchingOutcome = TypeOf<typeof matchingOutcome>
