import { bearerToken } from '#api/access/authenticate.ts'
import type { Request } from '#api/http/declaration.ts'
import { EventReply } from '#api/http/reply/reply.ts'
import type { EventFamily } from '#shared/core/events/event-type.ts'
import { parsePosition } from '#shared/core/events/positions.ts'
import { readWanted, requireFeed } from '#shared/core/events/read-events.ts'
import type { EventQuery } from '#shared/core/events/schemas.ts'
import type { Scope } from '#shared/core/scope/scope.ts'

type EventRequest = Pick<Request<string, unknown, EventQuery>, 'query' | 'header' | 'feedStreams'>

/**
 * Answers with a stream of the workspace's events: those after `Last-Event-ID`, else after `after`, else the ones that come. Throws
 * VALIDATION_ERROR for an unknown type, and for a position of another form.
 */
export async function followEvents({ query, header, feedStreams }: EventRequest, scope: Scope, families: readonly EventFamily[]) {
  const wanted = readWanted(families, query)
  const lastId = header('last-event-id')
  const position =
    lastId !== '' ? parsePosition(lastId, 'Last-Event-ID') : query.after === undefined ? undefined : parsePosition(query.after, 'after')
  const { feed, lastSeq } = await requireFeed(scope)
  const present = { feed, seq: lastSeq }
  const reader = {
    token: bearerToken(header('authorization')),
    workspaceId: scope.workspace.id,
    requestId: scope.cause.requestId,
  }
  const start = { feed: position?.feed ?? feed, seq: position?.seq ?? lastSeq }
  return new EventReply('workspace', () => feedStreams.open({ reader, wanted, start, present }))
}
