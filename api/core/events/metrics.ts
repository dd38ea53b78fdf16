import { Counter, Gauge } from 'prom-client'
import { registry } from '#api/http/metrics.ts'
import type { StreamEnd } from '#api/http/reply/event-stream.ts'
import type { StreamKind } from '#api/http/reply/reply.ts'

const openStreams = new Gauge({
  name: 'kontor_event_streams',
  help: 'Streams of events that this process sends, by kind: workspace, and operator for that of the overview',
  labelNames: ['kind'],
  registers: [registry],
})

const endedStreams = new Counter({
  name: 'kontor_event_streams_ended_total',
  help: 'Streams of events that ended, by kind and reason: client, unread, backlog, rights, place (lost to another stream) or stop',
  labelNames: ['kind', 'reason'],
  registers: [registry],
})

export const sentEvents = new Counter({
  name: 'kontor_event_streams_events_total',
  help: 'Events that were put into streams of workspaces',
  registers: [registry],
})

/** Counts the streams of events of this process. */
export const streamWatcher = {
  opened: (kind: StreamKind): void => openStreams.inc({ kind }),
  ended: (kind: StreamKind, reason: StreamEnd): void => {
    openStreams.dec({ kind })
    endedStreams.inc({ kind, reason })
  },
}
