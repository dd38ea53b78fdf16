import { ids } from '#api/http/example-ids.ts'

const stage = { from: [], wip_limit: 0, sla_seconds: 0, record_patch: null, on_enter: null, buttons: [] }
const expected = { ...stage, key: 'expected', label: 'Expected', kind: 'start', position: 1 }
const withButton = { ...expected, buttons: [{ id: 'print_label', label: 'Print label', function_id: ids.function }] }
const stored = { ...stage, key: 'stored', label: 'Stored', kind: 'terminal', position: 2 }

const summary = { total: 2, open: 1, closed: 1, overdue: 0, unexpected: 0, by_stage: { expected: 1, stored: 1 } }
export const dock = {
  id: ids.queue,
  key: 'dock',
  name: 'Dock',
  object_type: 'orders',
  enabled: true,
  stages: [withButton, stored],
  intake: { enabled: false, filter: [], stage: null, key_field: null, close_on_unmatch: false },
  settings: { lease_seconds: 300, on_unknown_scan: 'reject', allow_duplicates: false, items_follow_records: false },
  summary,
  created_at: '2026-11-10T06:32:05.071550Z',
  updated_at: '2026-11-10T06:32:05.071550Z',
}
export const newDock = {
  ...dock,
  stages: [expected, stored],
  summary: { ...summary, total: 0, open: 0, closed: 0, by_stage: { expected: 0, stored: 0 } },
}
export const renamedDock = { ...dock, name: 'Loading dock', updated_at: '2026-11-21T09:30:00.414862Z' }

const name = { id: ids.queue, key: 'dock', name: 'Dock' }
export const report = { queue: name, summary }

export const parcel = {
  id: ids.queueItem,
  key: 'P-1001',
  stage: 'expected',
  status: 'open',
  priority: 5,
  source: 'manual',
  batch: 'truck 7',
  record_id: null,
  payload: { supplier: 'Finca Aurora' },
  claimed_by: null,
  claim_expires_at: null,
  assignee_id: '',
  attempts: 0,
  due_at: null,
  overdue: false,
  entered_stage_at: '2026-11-21T07:05:10.858000Z',
  created_at: '2026-11-21T07:05:10.858000Z',
}
const parcelInStore = { ...parcel, stage: 'stored', status: 'done', entered_stage_at: '2026-11-21T09:30:00.566000Z' }
export const urgentParcel = { ...parcel, priority: 9, previous_claim: null }
export const storedParcel = { ...parcelInStore, previous_claim: null }
export const claimed = {
  items: [
    {
      ...parcel,
      claimed_by: ids.member,
      claim_expires_at: '2026-11-21T09:35:00.206000Z',
      attempts: 1,
      claim_token: 'example-claim-token',
    },
  ],
  claimed: 1,
}
export const page = { items: [parcel], total: 1, next_offset: null }
export const board = {
  queue: name,
  stages: [
    { key: 'expected', label: 'Expected', kind: 'start', position: 1, wip_limit: 0, items: [parcel], total: 1, next_offset: null },
    { key: 'stored', label: 'Stored', kind: 'terminal', position: 2, wip_limit: 0, items: [], total: 0, next_offset: null },
  ],
}

const verdict = { verdict: 'moved', message: 'P-1001 moved to stored', item: parcelInStore }
export const scanned = { ...verdict, previous_claim: null }
export const scannedLater = [{ scan_id: 'gate-1-000017', ...verdict, conflict: false }]

export const moveEvent = {
  id: ids.queueEvent,
  item_id: ids.queueItem,
  key: 'P-1001',
  kind: 'moved',
  from_stage: 'expected',
  to_stage: 'stored',
  status: 'done',
  verdict: 'moved',
  payload: null,
  scan_id: 'gate-1-000017',
  scanned_at: '2026-11-21T09:29:58.000000Z',
  station: 'gate 1',
  actor_id: ids.member,
  actor_type: 'user',
  note: '',
  previous_claim: null,
  created_at: '2026-11-21T09:30:00.566000Z',
}
