import { ids } from '#api/http/example-ids.ts'

const trigger = {
  id: 'start',
  type: 'trigger.record_event',
  config: { object_type: 'orders', event: 'created', filter: [{ field: 'order_total', op: 'gte', value: '1000' }] },
}
const notify = { id: 'tell', type: 'action.notify', config: { title: 'A large order of {{trigger.record.customer}}' } }
export const input = { name: 'Large orders', nodes: [trigger, notify], edges: [{ source: 'start', target: 'tell' }] }

const position = { x: 0, y: 0 }
const graph = {
  nodes: [
    { ...trigger, position },
    { ...notify, position },
  ],
  edges: [{ id: 'edge_1', source: 'start', source_handle: 'out', target: 'tell' }],
  context: {},
}

const head = {
  id: ids.flow,
  name: 'Large orders',
  description: '',
  enabled: true,
  trigger_kind: 'record_event',
  trigger_type: 'orders',
  trigger_event: 'created',
  cron_expr: null,
  next_run_at: null,
  last_run_at: '2026-11-21T09:30:01.029000Z',
  context: {},
  problems: [],
  version: 1,
  editor_id: ids.owner,
  created_at: '2026-11-16T10:32:15.469000Z',
  updated_at: '2026-11-16T10:32:15.469000Z',
}
export const flowSummary = head
export const flow = { ...head, ...graph }
export const newFlow = { ...flow, enabled: false, last_run_at: null }
export const renamedFlow = { ...flow, name: 'Tell the team about large orders', updated_at: '2026-11-21T09:30:00.814000Z' }
export const restoredFlow = { ...flow, version: 3, updated_at: '2026-11-21T09:30:00.222000Z' }
export const version = { version: 1, editor_id: ids.owner, created_at: '2026-11-16T10:32:15.469000Z', ...graph }
export const draft = { name: 'Large orders', ...graph, problems: [] }

export const block = {
  type: 'action.notify',
  label: 'Notify members',
  description: 'Puts an item into the inbox of a member, of those who hold a role, or of every member.',
  is_trigger: false,
  handles: ['out'],
  settings: {
    type: 'object',
    properties: { title: { type: 'string', description: 'The title of the item, up to 200 characters. Every recipient may read it.' } },
  },
  required: ['title'],
  output: { type: 'object', properties: { count: { type: 'integer' } } },
  app: null,
}

const week = { ok: 12, failed: 1, skipped: 0 }
export const overview = {
  total: 3,
  enabled: 2,
  by_trigger: { record_event: 2, schedule: 1 },
  runs_24h: { ok: 4, failed: 0, skipped: 0 },
  runs_7d: week,
  daily: [{ date: '2026-11-21', ok: 4, failed: 0 }],
  failing: [],
  busiest: [{ flow_id: ids.flow, flow_name: 'Large orders', runs: 9 }],
  upcoming: [],
}

export const runSummary = {
  id: ids.flowRun,
  flow_id: ids.flow,
  flow_name: 'Large orders',
  version: 1,
  status: 'ok',
  trigger: { kind: 'record_event', event: 'created', object_type: 'orders', record_id: ids.order },
  retry_of: null,
  created_at: '2026-11-21T09:30:01.010000Z',
  started_at: '2026-11-21T09:30:01.021000Z',
  finished_at: '2026-11-21T09:30:01.029000Z',
}
const step = {
  node_id: 'tell',
  node_type: 'action.notify',
  iteration: '',
  status: 'ok',
  output: { count: 2 },
  duration_ms: 4,
  started_at: '2026-11-21T09:30:01.022000Z',
}
export const run = { ...runSummary, steps: [step] }
export const cancelledRun = { ...run, status: 'cancelled', started_at: null, steps: [] }
export const retry = {
  ...runSummary,
  id: ids.retriedRun,
  status: 'queued',
  retry_of: ids.flowRun,
  created_at: '2026-11-21T09:31:40.043000Z',
  started_at: null,
  finished_at: null,
  steps: [],
}
export const rehearsal = {
  runs: [
    {
      run_id: ids.flowRun,
      status: 'ok',
      created: [],
      changed: [],
      deleted: [],
      messages: [],
      would_call: [],
      error: null,
    },
  ],
}
