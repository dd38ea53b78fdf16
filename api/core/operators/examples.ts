import { ids } from '#api/http/example-ids.ts'

export const workspace = { id: ids.workspace, name: 'Harbour Coffee', status: 'active', plan: 'paid' }

export const log = {
  entries: [
    {
      id: ids.operatorAction,
      at: '2026-11-21T09:30:00.000000Z',
      operator_id: ids.owner,
      operator: 'ada@example.com',
      action: 'workspaces.plan',
      subject: { workspace: ids.workspace, name: workspace.name, plan: 'paid', plan_before: 'free' },
      count: 1,
    },
  ],
  next_cursor: null,
}

/** The form token in a page of the console. */
export const formToken = { form_token: 'example-token-of-the-form' }

const job = {
  id: ids.job,
  kind: 'records.export',
  pool: 'data',
  workspace: ids.workspace,
  principal: ids.owner,
  request_id: 'orders-export-7',
  created_at: '2026-11-21T09:30:00.000000Z',
  progress: null,
  why: null,
}

const failure = { code: 'INTERNAL', message: 'The file store did not answer' }
const failed = { ...job, state: 'failed', error: failure }

export const jobs = { jobs: [failed], total: 1, next_cursor: null }

const details = {
  payload: { typeKey: 'orders', q: '[hidden]', filter: '[hidden]', sort: '[hidden]', dir: '[hidden]' },
  attempts: [
    {
      worker: 'worker-1:4711',
      started_at: '2026-11-21T09:30:00.250000Z',
      ended_at: '2026-11-21T09:30:30.500000Z',
      error: failure.message,
    },
  ],
  caused_by: null,
  caused: [],
  caused_more: false,
}

export const failedJob = { ...failed, ...details }

export const retriedJob = { ...job, state: 'waiting', error: null, why: 'others are before it', ...details }

export const cancelledJob = {
  ...job,
  state: 'cancelled',
  error: { code: 'CANCELLED', message: 'An operator of the installation has cancelled this work' },
  ...details,
  attempts: [],
}

export const discardedJob = { ...failedJob, state: 'cancelled' }
