import type { Place } from '#test/support/things.ts'

/**
 * Other values of parameters that choose or order the rows of a list; each is one that the list takes. Where lists take different ones of a name,
 * the route stands before it.
 */
export const otherValues: Readonly<Record<string, (place: Place) => string | Promise<string>>> = {
  account: ({ things }) => things.account(),
  currency: () => 'JPY',
  dir: () => 'asc',
  entity_type: () => 'invoices',
  error: () => 'overloaded',
  filter: ({ keys }) => JSON.stringify([{ field: keys.name, op: 'eq', value: 'x' }]),
  flow: ({ things }) => things.flow(),
  from: () => '2020-01-01',
  'GET /v1/operator/jobs from': () => '2020-01-01T00:00:00Z',
  'GET /v1/operator/jobs sort': () => 'created_at',
  'GET /v1/operator/jobs to': () => '2090-01-01T00:00:00Z',
  kind: () => 'records.import',
  offset: () => '0',
  page: () => '1',
  prefix: () => 'other/',
  principal: ({ org }) => org.ownerId,
  q: () => 'made',
  record_id: ({ things }) => things.record(),
  recorded_before: () => new Date().toISOString(),
  request_id: () => 'another',
  sort: ({ keys }) => keys.number,
  state: () => 'done',
  status: () => 'failed',
  to: () => '2090-01-01',
  unread: () => 'true',
  workspace: ({ org }) => org.id,
}

/** A query in which one parameter differs. `ref_field` and `ref_id` go together. */
export async function otherParameters(place: Place, name: string, route: string): Promise<Record<string, string>> {
  if (name === 'ref_field' || name === 'ref_id') return { ref_field: place.keys.ref, ref_id: await place.things.record() }
  const value = otherValues[`${route} ${name}`] ?? otherValues[name]
  if (!value) throw new Error(`${name} has no other value: write one in test/api/walk/other-rows.ts`)
  return { [name]: await value(place) }
}

/** Another thing of the kind that a path names. */
export const otherIds: Readonly<Record<string, (place: Place) => string | Promise<string>>> = {
  bucketId: async ({ things }) => (await things.space()).bucketId,
  flowId: ({ things }) => things.flow(),
  fnId: ({ things }) => things.fn(),
  formId: async ({ things }) => (await things.form()).id,
  typeKey: () => 'invoices',
  webhookId: ({ things }) => things.webhook(),
}

/** The path of another thing of the same kind. */
export async function otherPaths(place: Place, params: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const changed: Record<string, string> = {}
  for (const name of Object.keys(params)) {
    const id = otherIds[name]
    if (!id) throw new Error(`${name} has no other thing: write one in test/api/walk/other-rows.ts`)
    changed[name] = await id(place)
  }
  return changed
}
