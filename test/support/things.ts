import { randomBytes, randomUUID } from 'node:crypto'
import { makeSecret } from '#shared/core/people/tokens.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { makeLogo } from '#test/features/sites/picture.ts'
import { calendarThings } from '#test/support/calendar-things.ts'
import { createMember, createService, type Org } from '#test/support/factories.ts'
import { made } from '#test/support/made.ts'
import type { World } from '#test/support/world.ts'

/** The type of a place and the fields that it always has. */
interface Keys {
  readonly type: string
  readonly name: string
  readonly email: string
  readonly number: string
  readonly status: string
  readonly ref: string
  readonly refs: string
}

/**
 * Creates one of each kind of thing that a request can name, and returns its id. Through the API as the owner, where that needs no mail.
 */
export type Things = ReturnType<typeof thingsOf>

/** A workspace with its own type and functions that fill it. */
export interface Place {
  readonly world: World
  readonly org: Org
  /** The end of every key of this workspace, so that no other workspace has it. */
  readonly mark: string
  /** A text in names and values of its things that is never sent to name them. */
  readonly secret: string
  readonly keys: Keys
  readonly things: Things
}

/** A source that returns its input. */
export const echo = 'const handler = (input) => input'

/** Creates a type with a field of each kind that other things refer to. */
export async function settle(world: World, org: Org): Promise<Place> {
  const [mark, secret] = [randomBytes(4).toString('hex'), `secret ${randomUUID()}`]
  const names = ['type', 'name', 'email', 'number', 'status', 'ref', 'refs'].map((name) => [name, `${name}_${mark}`])
  const keys = Object.fromEntries(names) as unknown as Keys
  await made(org.owner.post(`${org.path}/types`, { key: keys.type, label: secret }))
  const place = { world, org, mark, secret, keys, things: thingsOf(world, org, mark, keys, secret) }
  const field = (key: string, type: string, more: object = {}) => place.things.field({ key, type, ...more })
  await field(keys.name, 'string')
  await field(keys.email, 'email', { unique: true })
  await field(keys.number, 'number')
  await field(keys.status, 'select', { rules: { options: ['open', 'done'] } })
  await field(keys.ref, 'ref', { rules: { ref_type: keys.type } })
  await field(keys.refs, 'refs', { rules: { ref_type: keys.type } })
  return place
}

/** Functions that create things in a workspace whose type and fields have these keys. */
export function thingsOf(world: World, org: Org, mark: string, keys: Keys, secret = 'Made') {
  const { db } = world
  const { id: orgId, path, owner } = org
  const name = () => `made_${randomBytes(4).toString('hex')}_${mark}`
  const post = (at: string, body: object) => made(owner.post(`${path}${at}`, body))
  return {
    name,
    type: async () => ((await post('/types', { key: name(), label: secret })) as unknown as { key: string }).key,
    field: async (more: object = {}) =>
      (await post('/fields', { entity_type: keys.type, key: name(), label: secret, type: 'string', ...more })).id,
    numbered: async (fieldId: string) => owner.put(`${path}/fields/${fieldId}/autogen`, { pattern: '{seq}' }),
    computed: async (fieldId: string) => owner.put(`${path}/fields/${fieldId}/formula`, { formula: keys.name }),
    record: async (values: object = {}) => (await post(`/records/${keys.type}`, { values: { [keys.name]: secret, ...values } })).id,
    rule: async () => (await post('/notification-rules', { name: secret, object_type: keys.type, event: 'created', title: secret })).id,
    fn: async () => (await post('/functions', { name: secret, source: echo, http_enabled: true })).id,
    /** A webhook to a port where nobody listens. */
    webhook: async () => (await post('/webhooks', { url: 'http://127.0.0.1:9/', description: secret, types: ['records.*'] })).id,
    delivery: async (webhookId: string) => (await post(`/webhooks/${webhookId}/test`, {})).id,
    run: async (fnId: string) => {
      await post(`/functions/${fnId}/invoke`, { input: 1 })
      return (await made(owner.get(`${path}/functions/${fnId}/runs`))).runs[0]?.id ?? ''
    },
    /** A flow that is run by hand and creates a record. */
    flow: async () => {
      const nodes = [
        { id: 't', type: 'trigger.manual' },
        { id: 'a', type: 'action.create_record', config: { object_type: keys.type, values: { [keys.name]: secret } } },
      ]
      return (await post('/flows', { name: secret, nodes, edges: [{ source: 't', target: 'a' }] })).id
    },
    /** A run of a flow with this status; a queued one is known to no worker. */
    flowRun: async (flowId: string, status: 'ok' | 'failed' | 'queued') => {
      const id = newId()
      await db.query(
        `insert into flow_runs (workspace_id, id, flow_id, flow_name, version, editor_id, status, trigger, input, trigger_key, depth, error,
           created_at, touched_at, finished_at)
         select $1, $2::uuid, $3, $4, 1, $5, $6::text, '{"kind": "manual", "event": null, "object_type": null, "record_id": null}', '{}', ($2::uuid)::text, 1,
           case when $6 = 'failed' then '{"code": "FORBIDDEN", "message": "no", "node_id": "a"}'::json end, now(), now(),
           case when $6 <> 'queued' then now() end`,
        [orgId, id, flowId, secret, org.ownerId, status],
      )
      return id
    },
    secret: async () => {
      const secret = name().toUpperCase()
      await made(owner.put(`${path}/functions/secrets/${secret}`, { value: 'hush' }))
      return secret
    },
    account: async () => (await post('/records/accounts', { values: { code: name(), name: secret } })).id,
    entry: async (accountId?: string) => {
      const account = async () => (await post('/records/accounts', { values: { code: name(), name: secret } })).id
      const lines = [
        { account_id: accountId ?? (await account()), debit: '5' },
        { account_id: await account(), credit: '5' },
      ]
      return (await post('/accounting/entries', { memo: secret, source_id: secret, lines })).id
    },
    /** A space of the team. */
    space: async () => {
      const key = name().replaceAll('_', '-')
      return { key, bucketId: (await post('/drive/buckets', { key, name: secret })).id }
    },
    /** The key of a file in a space. */
    object: async (bucketId: string) => {
      const form = new FormData()
      form.append('key', `${name()}.txt`)
      form.append('file', new Blob([secret]))
      return ((await made(owner.post(`${path}/drive/buckets/${bucketId}/objects`, form))) as unknown as { key: string }).key
    },
    share: async (bucketId: string) =>
      (await post(`/drive/buckets/${bucketId}/shares`, { prefix: `${name()}/`, org_wide: true, mode: 'view' })).id,
    ...calendarThings(world, org, { name, secret, post }),
    /** A work queue with a button in its first stage. */
    queue: async () => {
      const button = { id: 'print_label', label: secret, function_id: (await post('/functions', { name: secret, source: echo })).id }
      const stages = [
        { key: 'expected', label: secret, kind: 'start', buttons: [button] },
        { key: 'stored', kind: 'terminal' },
      ]
      const made = await post('/queues', { key: name(), name: secret, stages, settings: { allow_duplicates: true } })
      return made as unknown as { id: string; key: string }
    },
    queueItem: async (queueId: string, more: object = {}) => {
      const { items } = (await post(`/queues/${queueId}/items`, {
        items: [{ key: name(), payload: { secret }, ...more }],
        batch: secret.slice(0, 40),
      })) as unknown as { items: { id: string; key: string }[] }
      return items[0] as { id: string; key: string }
    },
    member: async () => (await createMember(world, org)).id,
    connection: async () => (await post('/payments/connections', { provider: 'sandbox', name: secret, mode: 'test' })).id,
    invoice: async () => (await post('/records/invoices', { values: { customer_name: secret, total: 5 } })).id,
    link: async () => {
      const { id } = await post('/payments/connections', { provider: 'sandbox', name: secret, mode: 'test' })
      return (await post('/payments/links', { connection_id: id, amount: '5', description: secret })).id
    },
    module: async () => {
      const slug = name()
      await post('/modules', { slug, name: secret })
      return slug
    },
    role: async (policy: readonly object[] = []) => (await post('/iam/groups', { name: secret, policy })).id,
    hold: (roleId: string, userId: string) => made(owner.post(`${path}/iam/groups/${roleId}/members`, { user_id: userId })),
    service: async () => (await createService(world, org, [], secret)).id,
    key: async (accountId: string) => (await post(`/service-accounts/${accountId}/keys`, { name: secret })).id,
    /** A published form that stores an address. */
    form: async () => {
      const key = name()
      const fields = [{ key: 'email', label: secret, type: 'email' }]
      return { key, id: (await post('/forms', { key, name: secret, fields, published: true })).id }
    },
    /** A failed submission of a visitor. */
    submission: async (formId: string) => {
      const id = newId()
      await db.query(
        `insert into form_submissions (workspace_id, form_id, id, "values", state, error) values ($1, $2, $3, '{}', 'failed', $4)`,
        [orgId, formId, id, secret],
      )
      return id
    },
    /** A published website. */
    site: async () => {
      const key = name()
      return { key, id: (await post('/sites', { key, name: secret, published: true })).id }
    },
    /** A published document of a website; returns its path. */
    document: async (siteId: string) => {
      const at = `a/${name()}`
      await made(owner.put(`${path}/sites/${siteId}/content/${at}`, { title: secret, published: true }))
      return at
    },
    /** A file that all websites share; returns its path. */
    asset: async () => {
      const at = `a/${name()}.txt`
      await made(owner.put(`${path}/assets/${at}`, secret, { 'content-type': 'text/plain' }))
      return at
    },
    /** Gives the workspace a logo. */
    logo: () => makeLogo(owner, path),
    /** Gives visitors their usual permissions, once. */
    visitors: async () => {
      const known = await db.query('select from roles where workspace_id = $1 and is_anonymous', [orgId])
      const policy = [{ effect: 'allow', actions: ['forms:read', 'forms:submit', 'content:deliver'] }]
      if (known.rowCount === 0) await post('/iam/groups', { name: 'Visitors', policy, is_anonymous: true })
    },
    /** A mail server that may not be dialled. */
    messageConnection: async () =>
      (await post('/messages/connections', { name: secret, host: '127.0.0.1', port: 25, from: 'shop@example.com' })).id,
    messageTemplate: async () => (await post('/messages/templates', { name: secret, subject: secret, body_text: secret })).id,
    /** An address that unsubscribed from messages. */
    stoppedAddress: async () => {
      const address = `${name()}@example.com`
      await db.query(`insert into do_not_contact (workspace_id, address, reason, created_at) values ($1, $2, 'unsubscribed', now())`, [
        orgId,
        address,
      ])
      return address
    },
    /** A sent message. */
    message: async () => {
      const id = newId()
      await db.query(
        `insert into outbox_mails (workspace_id, id, kind, recipient, contact_keys, subject, body_text, status, record_id)
         values ($1, $2, 'message', $3, array[$3], $4, $4, 'sent', $5)`,
        [orgId, id, `${name()}@example.com`, secret, randomUUID()],
      )
      return id
    },
    invitation: async () => (await post('/members', { email: `${name()}@example.com` })).id,
    /** An invitation of an unused address; returns the token that would be mailed. */
    token: async () => {
      const { text, hash } = makeSecret()
      await db.query(
        `insert into invitations (workspace_id, id, email, role_ids, token_hash, expires_at) values ($1, $2, $3, '{}', $4, now() + interval '1 day')`,
        [orgId, randomUUID(), `${name()}@example.com`, hash],
      )
      return text
    },
    /** An item in the inbox of a member. */
    notification: async (userId: string) => {
      const id = newId()
      await db.query(
        `insert into notifications (workspace_id, user_id, id, title, object_type, record_id, event) values ($1, $2, $3, $6, $4, $5, 'created')`,
        [orgId, userId, id, keys.type, randomUUID(), secret],
      )
      return id
    },
    /** A completed export of a member. */
    job: async (userId: string) => {
      const answer = await owner.get(`${path}/records/${keys.type}/export`, { prefer: 'respond-async' })
      await world.drain()
      await db.query('update operations set principal_id = $2 where id = $1', [answer.data.job_id, userId])
      return answer.data.job_id as string
    },
  }
}
