import { ids } from '#api/http/example-ids.ts'

export const overview = {
  jobs: { waiting: 12, held: 0, running: 3, failed: 1 },
  oldest_seconds: 4,
  finished_by_minute: Array.from({ length: 60 }, (_, minute) => 40 + (minute % 7)),
  processes: { api: 2, worker: 5, dead: 0 },
  database: { connections: 64, max_connections: 100, size_bytes: 2_147_483_648, slow_statements: 0 },
  store: { kind: 's3', fault: null },
  feed: { waiting: 3, lag_ms: 40 },
  streams: 6,
  webhooks: { active: 3, failing: 1, disabled: 0, oldest_seconds: 0, waiting: 2, delivered: 418, failed: 1 },
  mail: { waiting: 0, oldest: null, uncertain: 0, failed_day: 2 },
}

/** The beginning of the stream. */
export const stream = `retry: 2000\n\nevent: overview\ndata: ${JSON.stringify(overview)}\n\n`

export const kinds = {
  kinds: [
    {
      kind: 'records.import',
      pool: 'data',
      paused: false,
      waiting: 2,
      held: 0,
      running: 1,
      failed: 0,
      oldest_seconds: 3,
      wait_ms: { p50: 12, p95: 640 },
      run_ms: { p50: 420, p95: 1_900 },
      done_hour: 36,
      failed_attempts_hour: 0,
      limits: { per_process: 4, per_workspace_and_process: 2, per_workspace: null, in_all: 8 },
      full: 0.13,
      top_workspaces: [{ id: ids.workspace, name: 'Harbour Coffee', attempts: 20, run_ms: 11_400 }],
    },
  ],
}

export const processes = {
  processes: [
    {
      id: ids.process,
      kind: 'worker',
      pools: ['data'],
      host: 'worker-1',
      pid: 4711,
      release: '2026-11',
      started_at: '2026-11-20T06:00:00.000000Z',
      heartbeat_at: '2026-11-21T09:29:54.000000Z',
      dead: false,
      clock_ahead_ms: 2,
      memory_bytes: 142_606_336,
      slots: 40,
      running: [{ kind: 'records.import', id: ids.job, workspace: ids.workspace, since: '2026-11-21T09:29:53.000000Z' }],
    },
  ],
}

export const schedules = {
  schedules: [
    {
      kind: 'flows.schedule',
      subject: ids.flow,
      workspace: { id: ids.workspace, name: 'Harbour Coffee' },
      next: '2026-11-22T08:00:00.000000Z',
      held: false,
      last: { at: '2026-11-21T08:00:00.400000Z', ms: 310, status: 'ok', error: null },
    },
  ],
  waiting: [{ kind: 'calendar', count: 18, next: '2026-11-21T10:00:00.000000Z' }],
}

export const workspaces = {
  workspaces: [
    {
      id: ids.workspace,
      name: 'Harbour Coffee',
      status: 'active',
      plan: 'paid',
      owner: 'ada@example.com',
      calls: 5_400,
      computing_seconds: 12.4,
      database_seconds: 88.1,
      jobs: 730,
      job_seconds: 95.6,
      job_share: 0.42,
      waiting: 2,
      rows: 18_200,
      row_bytes: 25_165_824,
      file_bytes: 104_857_600,
      mails_day: 64,
    },
  ],
}
