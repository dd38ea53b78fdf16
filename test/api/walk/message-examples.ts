import { createHmac } from 'node:crypto'
import { unsubscribeHeaders } from '#shared/features/messages/do-not-contact/unsubscribe.ts'
import type { Call, Example, Examples } from '#test/api/walk/example.ts'
import { linkedPage } from '#test/api/walk/second-page.ts'
import type { Place } from '#test/support/things.ts'

const messages = '/v1/orgs/:orgId/messages'
const connection = `${messages}/connections/:connectionId`
const template = `${messages}/templates/:templateId`
const stopped = `${messages}/do-not-contact/:address`

const managed = (call: (place: Place) => Call | Promise<Call>, more: Partial<Example> = {}): Example => ({
  needs: 'messages:manage',
  call,
  ...more,
})
const ofConnection = (body?: object) =>
  managed(async ({ things }) => ({ params: { connectionId: await things.messageConnection() }, ...(body ? { body } : {}) }))
const ofTemplate = (body?: object) =>
  managed(async ({ things }) => ({ params: { templateId: await things.messageTemplate() }, ...(body ? { body } : {}) }))
const ofStopped = managed(async ({ things }) => ({ params: { address: await things.stoppedAddress() } }))

/** The token of the link by which the recipient of a message unsubscribes. */
async function linkOf({ world, org, things }: Place): Promise<{ readonly token: string }> {
  const headers = unsubscribeHeaders(world.config, org.id, await things.message())
  return { token: /unsubscribe\/([\w-]+)/.exec(headers['List-Unsubscribe'] ?? '')?.[1] ?? '' }
}

/** A report of a provider, signed with the secret of a connection. */
async function report({ org }: Place): Promise<Call> {
  const made = await org.owner.post(`${org.path}/messages/connections`, { name: 'Post', host: 'mail.example.com', from: 'a@example.com' })
  const body = JSON.stringify({ event: 'bounce', message_id: '01999999-9999-7999-8999-999999999999' })
  const time = Math.floor(Date.now() / 1_000)
  const signature = createHmac('sha256', made.data.webhook_secret).update(`${time}.${body}`).digest('hex')
  const headers = { 'x-kontor-signature': `t=${time},v1=${signature}` }
  return { params: { connectionId: made.data.id }, body, type: 'application/json', headers }
}

/** Connections and templates of messages, sent messages, and addresses that want none. */
export const messageExamples: Examples = {
  [`GET ${messages}/connections`]: managed(() => ({})),
  [`POST ${messages}/connections`]: managed(() => ({ body: { name: 'Post', host: 'mail.example.com', from: 'shop@example.com' } })),
  [`GET ${connection}`]: ofConnection(),
  [`PATCH ${connection}`]: ofConnection({ name: 'Changed' }),
  [`DELETE ${connection}`]: ofConnection(),
  [`POST ${connection}/test`]: ofConnection(),
  [`GET ${messages}/templates`]: managed(() => ({}), {
    secondPage: linkedPage('/messages/templates', (things) => things.messageTemplate()),
  }),
  [`POST ${messages}/templates`]: managed(() => ({ body: { name: 'New', subject: 'Hello {{name}}', body_text: 'Hello' } })),
  [`GET ${template}`]: ofTemplate(),
  [`PATCH ${template}`]: ofTemplate({ subject: 'Changed' }),
  [`DELETE ${template}`]: ofTemplate(),
  [`GET ${messages}/do-not-contact`]: managed(() => ({}), {
    badQuery: 'limit=0',
    secondPage: linkedPage('/messages/do-not-contact', (things) => things.stoppedAddress()),
  }),
  [`GET ${stopped}`]: ofStopped,
  [`DELETE ${stopped}`]: ofStopped,
  [`GET ${messages}`]: managed(() => ({}), {
    badQuery: 'limit=201',
    secondPage: linkedPage('/messages', (things) => things.message()),
  }),
  [`GET ${messages}/:messageId`]: managed(async ({ things }) => ({ params: { messageId: await things.message() } })),
  'GET /unsubscribe/:token': { needs: 'public', call: async (place) => ({ params: await linkOf(place) }) },
  'POST /unsubscribe/:token': {
    needs: 'public',
    call: async (place) => ({
      params: await linkOf(place),
      body: 'List-Unsubscribe=One-Click',
      type: 'application/x-www-form-urlencoded',
    }),
  },
  'POST /webhooks/messages/:connectionId': { needs: 'public', call: report },
}
