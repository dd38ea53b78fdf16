import { schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

export const recordMoveInput = schema(
  t.Object(
    {
      start: t.String({ description: 'An RFC 3339 instant or YYYY-MM-DD.' }),
      end: t.Optional(t.String({ description: 'Written like `start`; default: unchanged.' })),
    },
    { title: 'RecordMove' },
  ),
)
export type RecordMoveInput = TypeOf<typeof recordMoveInput>

export const movedRecord = schema(t.Object({ moved: t.Literal(true) }, { title: 'Moved' }))
