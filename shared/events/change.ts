import { schema, type TypeOf, t } from '#shared/kernel/schema.ts'

/** What can happen to a record. An audit entry's action is `record.` and one of these. */
export const changeEvents = ['created', 'updated', 'deleted'] as const
export type ChangeEvent = (typeof changeEvents)[number]

const ids = t.Array(t.String({ format: 'uuid' }), { minItems: 1 })

const change = {
  workspaceId: t.String({ format: 'uuid' }),
  objectType: t.String(),
  event: t.Enum([...changeEvents]),
  /** The audit entries of the changes, which are the events: all of one type and kind, made by one statement. */
  entryIds: ids,
}

/** Changes as one subscriber's job takes them: `listenerIds` are what of its own they concern, such as its rules. */
export const heardChanges = schema(t.Object({ ...change, listenerIds: ids }))
export type HeardChanges = TypeOf<typeof heardChanges>
