import { ids } from '#api/http/example-ids.ts'

export const secret = { name: 'SHOP_PASSWORD', created_at: '2026-11-05T14:02:01.437237Z', updated_at: '2026-11-21T09:30:00.437237Z' }

export const source = 'const handler = ({ weight_kg = 1, body }) => ({ price: 4.9 + 0.8 * (body?.weight_kg ?? weight_kg) })'
export const summary = {
  id: ids.function,
  name: 'Delivery price',
  description: 'The price of a delivery in euros, by its weight.',
  timeout_ms: 5000,
  enabled: true,
  http_enabled: true,
  author_id: ids.owner,
  version: 1,
  created_at: '2026-11-05T14:10:01.812542Z',
  updated_at: '2026-11-05T14:10:01.812542Z',
}
export const deliveryPrice = { ...summary, source }
export const quickerFunction = { ...deliveryPrice, timeout_ms: 2000, updated_at: '2026-11-21T09:30:00.198083Z' }
export const restoredFunction = { ...deliveryPrice, version: 3, updated_at: '2026-11-21T09:30:00.416304Z' }

export const version = { version: 1, author_id: ids.owner, source_bytes: source.length, created_at: '2026-11-05T14:10:01.812542Z' }
export const versionWithSource = { ...version, source }

export const invocation = { result: { price: 8.9 }, logs: [], steps: [], duration_ms: 1, timed_out: false }

const run = {
  id: ids.functionRun,
  function_id: ids.function,
  version: 1,
  parent_id: null,
  actor_id: ids.member,
  actor_type: 'user',
  request_id: 'order-1042-attempt-1',
  ending: 'returned',
  result_bytes: 13,
  duration_ms: 1,
  finished_at: '2026-11-21T09:30:00.915527Z',
}
export const runs = { runs: [run], next_cursor: null }
export const runWithSteps = { ...run, logs: [], steps: [] }

export const sdkTypes = `interface ReadTypes {
  orders: { customer: string; order_total: number | null }
}
`
