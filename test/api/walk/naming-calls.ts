import type { Call } from '#test/api/walk/example.ts'
import { createMember } from '#test/support/factories.ts'
import type { Place } from '#test/support/things.ts'

const org = '/v1/orgs/:orgId'
const records = `${org}/records/:typeKey`

type Calls = readonly ((place: Place) => Promise<Call>)[]

const typed = ({ keys }: Place) => ({ params: { typeKey: keys.type } })
const filter = (field: string, value: string, op = 'eq') => ({ filter: JSON.stringify([{ field, op, value }]) })
const policyNaming = async ({ things, keys }: Place) => [
  { effect: 'allow', actions: ['records:read'], resources: [keys.type, await things.fn()], fields: { deny: [keys.number] } },
  { effect: 'allow', actions: ['*'], condition: { [`resource.${keys.ref}`]: { in: [await things.record(), 'principal.id'] } } },
]

/** A function that reads the thing that its caller names. */
const reader = 'const handler = async ({ type, id, fn }) => (fn ? sdk.functions.invoke(fn, 1) : sdk.records.get(type, id))'
async function readerOf({ org }: Place): Promise<{ fnId: string }> {
  const { data } = await org.owner.post(`${org.path}/functions`, { name: 'Reader', source: reader })
  return { fnId: data.id }
}

/** Calls of routes that name more things of a workspace than their examples do. */
export const namingCalls: Readonly<Record<string, Calls>> = {
  [`GET ${records}`]: [
    async (place) => ({ ...typed(place), query: { ref_field: place.keys.ref, ref_id: await place.things.record() } }),
    async (place) => ({ ...typed(place), query: { ref_field: place.keys.refs, ref_id: await place.things.record() } }),
    async (place) => ({ ...typed(place), query: filter(place.keys.ref, await place.things.record()) }),
    async (place) => ({ ...typed(place), query: filter(place.keys.name, place.mark, 'contains') }),
    async (place) => ({ ...typed(place), query: { q: place.mark } }),
    async (place) => ({ ...typed(place), query: { sort: place.keys.number, fields: place.keys.name } }),
  ],
  [`GET ${records}/export`]: [async (place) => ({ ...typed(place), query: filter(place.keys.ref, await place.things.record()) })],
  [`POST ${records}`]: [
    async (place) => ({
      ...typed(place),
      body: { values: { [place.keys.ref]: await place.things.record(), [place.keys.refs]: [await place.things.record()] } },
    }),
  ],
  [`PUT ${records}/:recordId/values`]: [
    async (place) => ({
      params: { ...typed(place).params, recordId: await place.things.record() },
      body: { values: { [place.keys.ref]: await place.things.record() } },
    }),
  ],
  [`POST ${records}/import`]: [
    async ({ things }) => ({
      params: { typeKey: 'payments' },
      type: 'text/csv',
      body: `invoice_id\r\n${await things.record()}\r\n`,
    }),
    async (place) => ({ ...typed(place), type: 'text/csv', body: `${place.keys.ref}\r\n${await place.things.record()}\r\n` }),
  ],
  [`POST ${records}/batch`]: [
    ...[false, true].map((atomic) => async (place: Place) => ({
      ...typed(place),
      body: {
        atomic,
        operations: [{ op: 'update', id: await place.things.record(), values: { [place.keys.ref]: await place.things.record() } }],
      },
    })),
    async (place) => ({ ...typed(place), body: { operations: [{ op: 'delete', id: await place.things.record() }] } }),
    async (place) => ({
      ...typed(place),
      body: { operations: [{ op: 'upsert', by: place.keys.email, values: { [place.keys.email]: `${place.mark}@example.com` } }] },
    }),
  ],
  [`POST ${org}/batch`]: [
    ...[false, true].map((atomic) => async ({ keys, things }: Place) => ({
      body: {
        atomic,
        operations: [
          { type: keys.type, op: 'update', id: await things.record(), values: { [keys.ref]: await things.record() } },
          { type: 'payments', op: 'create', values: { invoice_id: await things.record() } },
        ],
      },
    })),
    async ({ keys, things }) => ({ body: { operations: [{ type: keys.type, op: 'delete', id: await things.record() }] } }),
  ],
  [`POST ${records}/update-where`]: [
    async (place) => ({
      ...typed(place),
      body: {
        filter: { field: place.keys.ref, op: 'eq', value: await place.things.record() },
        values: { [place.keys.ref]: await place.things.record() },
      },
    }),
  ],
  [`POST ${records}/delete-where`]: [
    async (place) => ({ ...typed(place), body: { filter: { field: 'id', op: 'in', value: [await place.things.record()] } } }),
  ],
  [`GET ${org}/audit`]: [
    async ({ keys, things, org }) => ({ query: { object_type: keys.type, record_id: await things.record(), actor: org.ownerId } }),
  ],
  [`PATCH ${org}/types/:typeKey`]: [
    async (place) => ({
      ...typed(place),
      body: { app: await place.things.module(), ui: { lines: { type: place.keys.type, ref: place.keys.ref } } },
    }),
  ],
  [`POST ${org}/fields`]: [
    async ({ keys, things }) => ({
      body: { entity_type: keys.type, key: things.name(), label: 'New', type: 'ref', rules: { ref_type: keys.type } },
    }),
  ],
  [`PATCH ${org}/fields/:fieldId`]: [
    async ({ keys, things }) => ({
      params: { fieldId: await things.field({ type: 'ref', rules: { ref_type: keys.type } }) },
      body: { rules: { ref_type: keys.type, default: await things.record() } },
    }),
  ],
  [`PUT ${org}/notification-rules/:ruleId`]: [
    async ({ keys, things }) => ({ params: { ruleId: await things.rule() }, body: { object_type: keys.type } }),
  ],
  [`POST ${org}/webhooks`]: [
    async ({ keys, things }) => ({
      body: { url: 'https://example.com/', types: ['records.*'], object_type: keys.type, service_account_id: await things.service() },
    }),
  ],
  [`PATCH ${org}/webhooks/:webhookId`]: [
    async ({ keys, things }) => ({
      params: { webhookId: await things.webhook() },
      body: {
        object_type: keys.type,
        filter: { field: keys.ref, value: await things.record() },
        service_account_id: await things.service(),
      },
    }),
  ],
  [`POST ${org}/iam/groups`]: [async (place) => ({ body: { name: 'New', policy: await policyNaming(place) } })],
  [`PUT ${org}/iam/groups/:groupId`]: [
    async (place) => ({ params: { groupId: await place.things.role() }, body: { name: 'New', policy: await policyNaming(place) } }),
  ],
  [`POST ${org}/iam/groups/:groupId/members`]: [
    async ({ world, org, things }) => ({
      params: { groupId: await things.role() },
      body: { user_id: (await createMember(world, org)).id },
    }),
  ],
  [`POST ${org}/iam/simulate`]: [
    async ({ world, org, keys, things }) => ({
      body: {
        user_id: (await createMember(world, org, [{ effect: 'allow', actions: ['*'] }])).id,
        action: 'records:read',
        resource: keys.type,
        attrs: { [keys.ref]: await things.record(), id: await things.record() },
      },
    }),
  ],
  [`POST ${org}/members`]: [
    async ({ things }) => ({ body: { email: `${things.name()}@example.com`, role_ids: [await things.role(), await things.role()] } }),
  ],
  [`POST ${org}/service-accounts`]: [async ({ things }) => ({ body: { name: 'Robot', role_ids: [await things.role()] } })],
  [`GET ${org}/drive/buckets/:bucketId/objects`]: [
    async (place) => {
      const { bucketId } = await place.things.space()
      const key = await place.things.object(bucketId)
      return { params: { bucketId }, query: { q: key.slice(-8) } }
    },
  ],
  [`POST ${org}/drive/buckets/:bucketId/shares`]: [
    async ({ world, org, things }) => ({
      params: { bucketId: (await things.space()).bucketId },
      body: { prefix: '', email: `${(await createMember(world, org)).id}@example.com`, mode: 'edit' },
    }),
  ],
  [`GET ${org}/messages`]: [async ({ things }) => ({ query: { record_id: await things.record(), status: 'sent' } })],
  [`POST ${org}/payments/links`]: [
    async ({ things }) => ({ body: { connection_id: await things.connection(), invoice_id: await things.invoice() } }),
  ],
  [`GET ${org}/accounting/entries`]: [
    async ({ things }) => {
      const account = await things.account()
      await things.entry(account)
      return { query: { account } }
    },
  ],
  [`GET ${org}/accounting/overview`]: [
    async ({ things }) => {
      const account = await things.account()
      await things.entry(account)
      return { query: { cash_accounts: account } }
    },
  ],
  [`DELETE ${records}/:recordId`]: [async ({ things }) => ({ params: { typeKey: 'accounts', recordId: await things.account() } })],
  [`GET ${org}/queues/:queueId/items`]: [
    async ({ things }) => {
      const { id: queueId } = await things.queue()
      const record = await things.record()
      const { key } = await things.queueItem(queueId, { record_id: record, assignee_id: record })
      return { params: { queueId }, query: { record_id: record, assignee_id: record, key, q: key } }
    },
  ],
  [`GET ${org}/queues/:queueId/events`]: [
    async ({ things }) => {
      const { id: queueId } = await things.queue()
      return { params: { queueId }, query: { item_id: (await things.queueItem(queueId)).id } }
    },
  ],
  [`POST ${org}/queues/:queueId/items`]: [
    async ({ things }) => ({
      params: { queueId: (await things.queue()).id },
      body: { items: [{ key: 'A', record_id: await things.record(), assignee_id: await things.record() }] },
    }),
  ],
  [`POST ${org}/queues`]: [
    async ({ things, keys }) => ({
      body: {
        key: things.name(),
        name: 'New',
        object_type: keys.type,
        stages: [{ key: 'in', on_enter: { function_id: await things.fn() }, record_patch: { [keys.name]: 'is {{item.key}}' } }],
        intake: { enabled: true, key_field: keys.name, filter: [{ field: keys.number, op: 'gt', value: '1' }] },
      },
    }),
  ],
  [`PUT ${org}/queues/:queueId`]: [
    async ({ things, keys }) => ({
      params: { queueId: (await things.queue()).id },
      body: {
        object_type: keys.type,
        stages: [{ key: 'in', buttons: [{ id: 'go', label: 'Go', function_id: await things.fn() }] }],
      },
    }),
  ],
  [`POST ${org}/functions/:fnId/invoke`]: [
    async (place) => ({ params: await readerOf(place), body: { input: { type: place.keys.type, id: await place.things.record() } } }),
    async (place) => ({ params: await readerOf(place), body: { input: { fn: await place.things.fn() } } }),
  ],
}
