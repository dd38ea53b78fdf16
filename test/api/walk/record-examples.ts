import { ids } from '#api/http/example-ids.ts'
import type { Call, Walked, WalkedRoutes } from '#test/api/walk/example.ts'
import { linkedPage, linkedQuery, nextQuery } from '#test/api/walk/second-page.ts'
import type { Place } from '#test/support/things.ts'

const org = '/v1/orgs/:orgId'
const fields = `${org}/fields`
const records = `${org}/records/:typeKey`
const rules = `${org}/notification-rules`

const onType = (_: Call, { keys }: Place): string => keys.type
const typed = ({ keys }: Place): { typeKey: string } => ({ typeKey: keys.type })
const aRecord = async ({ things }: Place) => ({ [ids.order]: await things.record() })
const aRule = async ({ things }: Place) => ({ [ids.rule]: await things.rule() })
const readable = { also: ['records:read'] } as const

/** A route about one field that checks `fields:create` for its type. `id` stands for the field. */
const ofField = (id: string, change: (place: Place, fieldId: string) => Promise<unknown> | unknown = () => undefined): Walked => ({
  needs: 'fields:create',
  on: onType,
  things: async (place) => {
    const fieldId = await place.things.field()
    await change(place, fieldId)
    return { [id]: fieldId }
  },
})

/** Types, fields, records and their audit. */
export const recordExamples: WalkedRoutes = {
  [`GET ${org}/types`]: {
    needs: 'types:read',
    perItem: true,
    secondPage: linkedPage('/types', (things) => things.type()),
  },
  [`POST ${org}/types`]: {
    needs: 'types:create',
    on: ({ body }) => (body as { key: string }).key,
    keyInside: true,
    things: ({ things }) => ({ orders: things.name() }),
  },
  [`PATCH ${org}/types/:typeKey`]: { needs: 'types:update', on: onType },
  [`DELETE ${org}/types/:typeKey`]: {
    needs: 'types:delete',
    on: ({ params }) => params?.typeKey ?? '',
    things: async ({ things }) => ({ orders: await things.type() }),
  },
  [`GET ${fields}`]: {
    secondPage: async (place) => ({ query: await linkedQuery(place, '/fields', { entity_type: place.keys.type }) }),
    needs: 'fields:read',
    on: onType,
    keyInside: true,
    badQuery: 'entity_type=',
  },
  [`POST ${fields}`]: { needs: 'fields:create', on: onType, keyInside: true, things: ({ things }) => ({ order_total: things.name() }) },
  [`PATCH ${fields}/:fieldId`]: ofField(ids.orderTotalField),
  [`DELETE ${fields}/:fieldId`]: { ...ofField(ids.orderTotalField), needs: 'fields:delete' },
  [`PUT ${fields}/:fieldId/autogen`]: ofField(ids.orderNumberField),
  [`DELETE ${fields}/:fieldId/autogen`]: ofField(ids.orderNumberField, ({ things }, id) => things.numbered(id)),
  [`PUT ${fields}/:fieldId/formula`]: ofField(ids.orderTitleField),
  [`DELETE ${fields}/:fieldId/formula`]: ofField(ids.orderTitleField, ({ things }, id) => things.computed(id)),
  [`PUT ${fields}/:fieldId/description`]: ofField(ids.orderTotalField),
  [`PUT ${fields}/:fieldId/ref-type`]: {
    needs: 'fields:create',
    on: onType,
    things: async ({ things, keys }) => ({
      [ids.previousOrderField]: await things.field({ type: 'ref', rules: { ref_type: keys.type } }),
      orders: await things.type(),
    }),
  },
  [`GET ${org}/records`]: {
    needs: 'records:read',
    perItem: true,
    secondPage: linkedPage('/records', (things) => things.type()),
  },
  [`POST ${records}`]: {
    needs: 'records:create',
    ...readable,
    on: onType,
    things: async ({ things }) => ({ [ids.previousOrder]: await things.record() }),
  },
  [`GET ${records}`]: {
    needs: 'records:read',
    on: onType,
    badQuery: 'limit=0',
    secondPage: async (place) => {
      for (const _ of [1, 2]) await place.things.record()
      return { params: typed(place), query: await nextQuery(place, `/records/${place.keys.type}`) }
    },
  },
  [`POST ${records}/query`]: { needs: 'records:read', on: onType },
  [`GET ${records}/aggregate`]: { needs: 'records:read', on: onType, badQuery: 'metrics=none' },
  [`GET ${records}/export`]: { needs: 'records:export', on: onType, badQuery: 'filter=x' },
  [`POST ${records}/import`]: { needs: 'records:import', on: onType, badQuery: 'dates=x' },
  [`POST ${records}/batch`]: {
    needs: 'member',
    things: async ({ things }) => ({ [ids.previousOrder]: await things.record() }),
  },
  [`POST ${org}/batch`]: { needs: 'member' },
  [`POST ${records}/update-where`]: { needs: 'records:update', ...readable, on: onType },
  [`POST ${records}/delete-where`]: { needs: 'records:delete', ...readable, on: onType },
  [`GET ${records}/:recordId`]: { needs: 'records:read', on: onType, things: aRecord },
  [`GET ${records}/:recordId/values`]: { needs: 'records:read', on: onType, things: aRecord },
  [`PUT ${records}/:recordId/values`]: { needs: 'records:update', ...readable, on: onType, things: aRecord },
  [`DELETE ${records}/:recordId`]: { needs: 'records:delete', ...readable, on: onType, things: aRecord },
  [`GET ${org}/events`]: { needs: 'member', badQuery: 'limit=0' },
  [`GET ${org}/events/types`]: { needs: 'member' },
  [`GET ${org}/audit`]: { needs: 'audit:read', perItem: true, badQuery: 'limit=0', things: aRecord },
  [`GET ${rules}`]: {
    needs: 'notifications:read',
    perItem: true,
    secondPage: linkedPage('/notification-rules', (things) => things.rule()),
  },
  [`POST ${rules}`]: { needs: 'notifications:create', ...readable, on: onType, keyInside: true },
  [`GET ${rules}/:ruleId`]: { needs: 'notifications:read', on: onType, things: aRule },
  [`PUT ${rules}/:ruleId`]: { needs: 'notifications:create', on: onType, things: aRule },
  [`DELETE ${rules}/:ruleId`]: { needs: 'notifications:delete', on: onType, things: aRule },
  [`GET ${org}/notifications`]: {
    needs: 'member',
    badQuery: 'limit=0',
    secondPage: async (place) => {
      for (const _ of [1, 2]) await place.things.notification(place.org.ownerId)
      return { query: await nextQuery(place, '/notifications') }
    },
  },
  [`GET ${org}/notifications/unread-count`]: { needs: 'member' },
  [`POST ${org}/notifications/read/:notificationId`]: {
    needs: 'member',
    peopleOnly: true,
    things: async ({ things }, { id }) => ({ [ids.notification]: await things.notification(id) }),
  },
  [`POST ${org}/notifications/read-all`]: { needs: 'member' },
}
