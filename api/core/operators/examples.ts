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
