import { ids } from '#api/http/example-ids.ts'

const fields = [{ key: 'email', label: 'Email', type: 'email', required: true }]
export const input = {
  key: 'newsletter',
  name: 'Newsletter',
  fields,
  settings: { submit_label: 'Subscribe', success_message: 'Thank you.' },
  target: { object_type: 'orders' },
  function_id: ids.function,
  published: true,
}
export const form = {
  ...input,
  id: ids.form,
  description: '',
  settings: { ...input.settings, redirect: '' },
  edited_by: ids.owner,
  created_at: '2026-11-14T10:32:13.694971Z',
  updated_at: '2026-11-14T10:32:13.694971Z',
}
export const definition = { key: 'newsletter', name: 'Newsletter', description: '', fields, settings: input.settings }

const submission = {
  id: ids.submission,
  values: { email: 'lena@cafe-lindgren.example' },
  record_id: ids.order,
  error: null,
  spam: null,
  state: 'done',
  created_at: '2026-11-21T09:30:00.109159Z',
}
export const submissions = { submissions: [submission], next_cursor: null }
export const retried = { ...submission, record_id: null, state: 'waiting' }
