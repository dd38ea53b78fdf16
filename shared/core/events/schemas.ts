import type { EventType } from '#shared/core/events/event-type.ts'
import { causeView } from '#shared/platform/kernel/cause.ts'
import { instant, nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

/** The most events that one request looks at. */
export const maxExamined = 5_000

type Json = EventType['data']

const actor = t.Object(
  {
    id: nullable(uuid),
    type: t.String({ description: 'user, service (an access key), anonymous (a visitor) or system (the platform).' }),
  },
  { title: 'EventActor' },
)

const eventOf = <Type extends Json, Subject extends Json, Data extends Json>(type: Type, subject: Subject, data: Data) => ({
  seq: t.Integer({
    minimum: 1,
    description: 'The number in the list of the workspace. Numbers have no gaps; events that you may not read are left out.',
  }),
  id: t.String({ format: 'uuid', description: 'Of the change of a record, the id of its audit entry.' }),
  type,
  at: instant,
  actor,
  cause: causeView,
  subject,
  data,
})

const anything = (description: string) => t.Record(t.String(), t.Unknown(), { description })

const workspaceEvent = t.Object(
  eventOf(
    t.String({ description: 'Such as records.created. See `GET /events/types`.' }),
    anything('What the event is about; its keys depend on the type.'),
    anything('Depends on the type.'),
  ),
  { title: 'WorkspaceEvent', description: 'Something that happened in the workspace.' },
)

/** The schema of a whole event of a type. */
export const eventSchema = ({ type, description, subject, data }: EventType): EventType['data'] =>
  t.Object(eventOf(t.Literal(type), subject, data), { description })

export const eventPage = schema(
  t.Object(
    {
      events: t.Array(workspaceEvent),
      next_after: t.String({ description: '`after` of the next request, also when the page is empty.' }),
      last_seq: t.Integer({ minimum: 0, description: 'The last number of the list.' }),
      oldest_seq: t.Integer({ minimum: 1, description: 'The lowest number that is kept; above last_seq where none is.' }),
      feed: t.String({ format: 'uuid', description: 'Which list the numbers belong to. A restored or imported workspace begins another.' }),
    },
    { title: 'EventPage' },
  ),
)
export type EventPage = TypeOf<typeof eventPage>
export type WorkspaceEvent = EventPage['events'][number] & { readonly type: string }

export const eventQuery = schema(
  t.Object({
    after: t.Optional(
      t.String({
        description:
          'The position after which the page begins: next_after of the page before, or a number of the list. Without it a page begins with the oldest kept event, a stream with the next one.',
      }),
    ),
    types: t.Optional(t.String({ description: 'Types with commas between; `records.*` means all that begin so.' })),
    object_type: t.Optional(t.String({ description: 'Key of a record type, for events of its records and changes of the type.' })),
    limit: t.Integer({ minimum: 1, maximum: 500, default: 100 }),
  }),
)
export type EventQuery = TypeOf<typeof eventQuery>

export const eventTypeList = schema(
  t.Array(
    t.Object(
      {
        type: t.String(),
        description: t.String(),
        permission: t.String({ description: 'What reading these events takes.' }),
        schema: anything('JSON Schema of the whole event.'),
        example: anything('A whole event.'),
      },
      { title: 'EventType' },
    ),
  ),
)
export type EventTypeList = TypeOf<typeof eventTypeList>
