import type { EventFamily, EventType } from '#shared/core/events/event-type.ts'
import { type EventTypeList, eventSchema, type WorkspaceEvent } from '#shared/core/events/schemas.ts'

/** A whole event of a type as an example. */
export const exampleOf = ({ type, example: { subject, data } }: EventType): WorkspaceEvent => ({
  seq: 1042,
  id: '01a1a4c9-3b7e-7c05-9d21-6f8e2a4b91d0',
  type,
  at: '2026-11-21T11:02:48.915000Z',
  actor: { id: '01a19bc1-0f23-7b54-9ed6-6d22568f7c36', type: 'user' },
  cause: { kind: 'request', id: null },
  subject,
  data,
})

/** All types of events, with the schema and an example of the whole event. */
export const describeTypes = (families: readonly EventFamily[]): EventTypeList =>
  families.flatMap(({ types }) =>
    types.map((type) => ({
      type: type.type,
      description: type.description,
      permission: type.permission,
      schema: { ...eventSchema(type) },
      example: { ...exampleOf(type) },
    })),
  )
