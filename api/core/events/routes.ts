import { followEvents } from '#api/core/events/streams/follow.ts'
import { ids } from '#api/http/example-ids.ts'
import { answer, orgPath } from '#api/http/route.ts'
import type { EventFamily } from '#shared/core/events/event-type.ts'
import { describeTypes, exampleOf } from '#shared/core/events/list-types.ts'
import { readEvents } from '#shared/core/events/read-events.ts'
import { eventPage, eventQuery, eventTypeList } from '#shared/core/events/schemas.ts'
import { recordEvents } from '#shared/core/records/events/event-types.ts'

const common = { tag: 'Events', app: null, limit: null, permission: 'member' } as const

const eventStreamType = 'text/event-stream'

const [created] = recordEvents.types
const example = created ? [exampleOf(created)] : []

/** The routes of the list of events; `families` are the types of all features. */
export const createRoutes = (families: readonly EventFamily[]) => [
  answer({
    ...common,
    method: 'GET',
    path: `${orgPath}/events`,
    summary: 'List events',
    description:
      'Everything that happens in the workspace, in the order of numbers, as far as you may read it by your rights of now. A page may be empty and go on: `next_after` always says where. A request looks at 5,000 events at most. With `Accept: text/event-stream` the answer is a stream of the events that come.',
    example: {
      query: { types: 'records.*', limit: 100 },
      answer: { events: example, next_after: `${ids.feed}:1042`, last_seq: 1042, oldest_seq: 1, feed: ids.feed },
    },
    query: eventQuery,
    status: 200,
    response: eventPage,
    contentType: eventStreamType,
    fails: ['RATE_LIMITED'],
    handle: (request, scope) =>
      request.preferredType(['application/json', eventStreamType, `${eventStreamType};charset=utf-8`])?.startsWith(eventStreamType)
        ? followEvents(request, scope, families)
        : readEvents(scope, families, request.query),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${orgPath}/events/types`,
    summary: 'List the types of events',
    description: 'Each with the permission that reading takes, and with the schema and an example of the whole event.',
    example: { answer: describeTypes([recordEvents]).slice(0, 1) },
    status: 200,
    response: eventTypeList,
    handle: async () => describeTypes(families),
  }),
]
