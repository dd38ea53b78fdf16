import type { Call, Example, Examples } from '#test/api/walk/example.ts'
import { linkedPage, linkedQuery, nextQuery } from '#test/api/walk/second-page.ts'
import type { Place } from '#test/support/things.ts'

const org = '/v1/orgs/:orgId'
const fields = `${org}/fields`
const records = `${org}/records/:typeKey`
const rules = `${org}/notification-rules`

const onType = (_: Call, { keys }: Place): string => keys.type
const typed = ({ keys }: Place): { typeKey: string } => ({ typeKey: keys.type })
const ofRecord = async (place: Place): Promise<{ typeKey: string; recordId: string }> => ({
  ...typed(place),
  recordId: await place.things.record(),
})
const readable = { also: ['records:read'] } as const

/** A route about one field that checks `fields:create` for its type. */
const ofField = (change: (place: Place, fieldId: string) => Promise<unknown> | unknown, body?: (place: Place) => unknown): Example => ({
  needs: 'fields:create',
  on: onType,
  call: async (place) => {
    const fieldId = await place.things.field()
    await change(place, fieldId)
    return { params: { fieldId }, ...(body ? { body: body(place) } : {}) }
  },
})

/** Types, fields, records and their audit. */
export const recordExamples: Examples = {
  [`GET ${org}/types`]: {
    needs: 'types:read',
    perItem: true,
    secondPage: linkedPage('/types', (things) => things.type()),
    call: () => ({}),
  },
  [`POST ${org}/types`]: {
    needs: 'types:create',
    on: ({ body }) => (body as { key: string }).key,
    keyInside: true,
    call: ({ things }) => ({ body: { key: things.name(), label: 'New' } }),
  },
  [`PATCH ${org}/types/:typeKey`]: {
    needs: 'types:update',
    on: onType,
    call: (place) => ({ params: typed(place), body: { description: 'Changed' } }),
  },
  [`DELETE ${org}/types/:typeKey`]: {
    needs: 'types:delete',
    on: ({ params }) => params?.typeKey ?? '',
    call: async ({ things }) => ({ params: { typeKey: await things.type() } }),
  },
  [`GET ${fields}`]: {
    secondPage: async (place) => ({ query: await linkedQuery(place, '/fields', { entity_type: place.keys.type }) }),
    needs: 'fields:read',
    on: onType,
    keyInside: true,
    badQuery: 'entity_type=',
    call: ({ keys }) => ({ query: { entity_type: keys.type } }),
  },
  [`POST ${fields}`]: {
    needs: 'fields:create',
    on: onType,
    keyInside: true,
    call: ({ things, keys }) => ({ body: { entity_type: keys.type, key: things.name(), label: 'New', type: 'string' } }),
  },
  [`PATCH ${fields}/:fieldId`]: ofField(
    () => undefined,
    () => ({ label: 'Changed' }),
  ),
  [`DELETE ${fields}/:fieldId`]: { ...ofField(() => undefined), needs: 'fields:delete' },
  [`PUT ${fields}/:fieldId/autogen`]: ofField(
    () => undefined,
    () => ({ pattern: 'A-{seq}' }),
  ),
  [`DELETE ${fields}/:fieldId/autogen`]: ofField(({ things }, id) => things.numbered(id)),
  [`PUT ${fields}/:fieldId/formula`]: ofField(
    () => undefined,
    ({ keys }) => ({ formula: `CONCAT(${keys.name},"!")` }),
  ),
  [`DELETE ${fields}/:fieldId/formula`]: ofField(({ things }, id) => things.computed(id)),
  [`PUT ${fields}/:fieldId/description`]: ofField(
    () => undefined,
    () => ({ description: 'Changed' }),
  ),
  [`PUT ${fields}/:fieldId/ref-type`]: {
    needs: 'fields:create',
    on: onType,
    call: async ({ things, keys }) => ({
      params: { fieldId: await things.field({ type: 'ref', rules: { ref_type: keys.type } }) },
      body: { ref_type: await things.type() },
    }),
  },
  [`GET ${org}/records`]: {
    needs: 'records:read',
    perItem: true,
    secondPage: linkedPage('/records', (things) => things.type()),
    call: () => ({}),
  },
  [`POST ${records}`]: {
    needs: 'records:create',
    on: onType,
    call: (place) => ({ params: typed(place), body: { values: { [place.keys.name]: 'new' } } }),
  },
  [`GET ${records}`]: {
    needs: 'records:read',
    on: onType,
    badQuery: 'limit=0',
    secondPage: async (place) => {
      for (const _ of [1, 2]) await place.things.record()
      return { params: typed(place), query: await nextQuery(place, `/records/${place.keys.type}`) }
    },
    call: (place) => ({ params: typed(place) }),
  },
  [`POST ${records}/query`]: {
    needs: 'records:read',
    on: onType,
    call: (place) => ({ params: typed(place), body: { filter: { not: { field: 'created_by', op: 'in', value: [place.org.id] } } } }),
  },
  [`GET ${records}/aggregate`]: {
    needs: 'records:read',
    on: onType,
    badQuery: 'metrics=none',
    call: (place) => ({ params: typed(place), query: { metrics: 'count', group_by: 'created_at:month' } }),
  },
  [`GET ${records}/export`]: { needs: 'records:export', on: onType, badQuery: 'filter=x', call: (place) => ({ params: typed(place) }) },
  [`POST ${records}/import`]: {
    needs: 'records:import',
    on: onType,
    badQuery: 'dates=x',
    call: (place) => ({ params: typed(place), body: `${place.keys.name}\r\nimported\r\n`, type: 'text/csv' }),
  },
  [`POST ${records}/batch`]: {
    needs: 'member',
    call: (place) => ({ params: typed(place), body: { operations: [{ op: 'create', values: {} }] } }),
  },
  [`POST ${org}/batch`]: {
    needs: 'member',
    call: ({ keys }) => ({
      body: {
        operations: [
          { type: keys.type, op: 'create', values: {} },
          { type: keys.type, op: 'create', values: { [keys.ref]: { $of: 0 } } },
        ],
      },
    }),
  },
  [`POST ${records}/update-where`]: {
    needs: 'records:update',
    ...readable,
    on: onType,
    call: async (place) => ({
      params: typed(place),
      body: { filter: [{ field: 'id', op: 'eq', value: await place.things.record() }], values: { [place.keys.name]: 'changed' } },
    }),
  },
  [`POST ${records}/delete-where`]: {
    needs: 'records:delete',
    ...readable,
    on: onType,
    call: async (place) => ({
      params: typed(place),
      body: { filter: { field: 'id', op: 'in', value: [await place.things.record()] } },
    }),
  },
  [`GET ${records}/:recordId`]: { needs: 'records:read', on: onType, call: async (place) => ({ params: await ofRecord(place) }) },
  [`GET ${records}/:recordId/values`]: { needs: 'records:read', on: onType, call: async (place) => ({ params: await ofRecord(place) }) },
  [`PUT ${records}/:recordId/values`]: {
    needs: 'records:update',
    ...readable,
    on: onType,
    call: async (place) => ({ params: await ofRecord(place), body: { values: { [place.keys.name]: 'changed' } } }),
  },
  [`DELETE ${records}/:recordId`]: {
    needs: 'records:delete',
    ...readable,
    on: onType,
    call: async (place) => ({ params: await ofRecord(place) }),
  },
  [`GET ${org}/audit`]: { needs: 'audit:read', perItem: true, badQuery: 'limit=0', call: () => ({}) },
  [`GET ${rules}`]: {
    needs: 'notifications:read',
    perItem: true,
    secondPage: linkedPage('/notification-rules', (things) => things.rule()),
    call: () => ({}),
  },
  [`POST ${rules}`]: {
    needs: 'notifications:create',
    ...readable,
    on: onType,
    keyInside: true,
    call: ({ keys }) => ({
      body: { name: 'New', object_type: keys.type, event: 'deleted', title: 'Gone', filter: { field: keys.name, op: 'not_empty' } },
    }),
  },
  [`GET ${rules}/:ruleId`]: {
    needs: 'notifications:read',
    on: onType,
    call: async ({ things }) => ({ params: { ruleId: await things.rule() } }),
  },
  [`PUT ${rules}/:ruleId`]: {
    needs: 'notifications:create',
    on: onType,
    call: async ({ things }) => ({ params: { ruleId: await things.rule() }, body: { enabled: false } }),
  },
  [`DELETE ${rules}/:ruleId`]: {
    needs: 'notifications:delete',
    on: onType,
    call: async ({ things }) => ({ params: { ruleId: await things.rule() } }),
  },
  [`GET ${org}/notifications`]: {
    needs: 'member',
    badQuery: 'limit=0',
    secondPage: async (place) => {
      for (const _ of [1, 2]) await place.things.notification(place.org.ownerId)
      return { query: await nextQuery(place, '/notifications') }
    },
    call: () => ({}),
  },
  [`GET ${org}/notifications/unread-count`]: { needs: 'member', call: () => ({}) },
  [`POST ${org}/notifications/read/:notificationId`]: {
    needs: 'member',
    peopleOnly: true,
    call: async ({ things }, { id }) => ({ params: { notificationId: await things.notification(id) } }),
  },
  [`POST ${org}/notifications/read-all`]: { needs: 'member', call: () => ({}) },
}
