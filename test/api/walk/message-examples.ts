import { createHmac } from 'node:crypto'
import { ids } from '#api/http/example-ids.ts'
import { unsubscribeHeaders } from '#shared/features/messages/do-not-contact/unsubscribe.ts'
import type { Call, Walked, WalkedRoutes } from '#test/api/walk/example.ts'
import { linkedPage } from '#test/api/walk/second-page.ts'
import type { Place } from '#test/support/things.ts'

const messages = '/v1/orgs/:orgId/messages'
const connection = `${messages}/connections/:connectionId`
const template = `${messages}/templates/:templateId`
const stopped = `${messages}/do-not-contact/:address`

const managed = (things?: Walked['things']): Walked => ({ needs: 'messages:manage', ...(things ? { things } : {}) })
const ofConnection = managed(async ({ things }) => ({ [ids.mailConnection]: await things.messageConnection() }))
const ofTemplate = managed(async ({ things }) => ({ [ids.template]: await things.messageTemplate() }))
const ofStopped = managed(async ({ things }) => ({ 'lena@cafe-lindgren.example': await things.stoppedAddress() }))

/** The token of the link by which the recipient of a message unsubscribes. */
async function linkOf({ world, org, things }: Place) {
  const headers = unsubscribeHeaders(world.config, org.id, await things.message())
  return { 'example-token-of-the-message': /unsubscribe\/([\w-]+)/.exec(headers['List-Unsubscribe'] ?? '')?.[1] ?? '' }
}

/** The call as a report of a provider, signed with the secret of a connection. */
async function report(call: Call, { org }: Place): Promise<Call> {
  const made = await org.owner.post(`${org.path}/messages/connections`, { name: 'Post', host: 'mail.example.com', from: 'a@example.com' })
  const time = Math.floor(Date.now() / 1_000)
  const signature = createHmac('sha256', made.data.webhook_secret).update(`${time}.${call.body}`).digest('hex')
  const headers = { 'x-kontor-signature': `t=${time},v1=${signature}` }
  return { ...call, params: { connectionId: made.data.id }, headers }
}

/** Connections and templates of messages, sent messages, and addresses that want none. */
export const messageExamples: WalkedRoutes = {
  [`GET ${messages}/connections`]: managed(),
  [`POST ${messages}/connections`]: managed(),
  [`GET ${connection}`]: ofConnection,
  [`PATCH ${connection}`]: ofConnection,
  [`DELETE ${connection}`]: ofConnection,
  [`POST ${connection}/test`]: ofConnection,
  [`GET ${messages}/templates`]: { ...managed(), secondPage: linkedPage('/messages/templates', (things) => things.messageTemplate()) },
  [`POST ${messages}/templates`]: managed(),
  [`GET ${template}`]: ofTemplate,
  [`PATCH ${template}`]: ofTemplate,
  [`DELETE ${template}`]: ofTemplate,
  [`GET ${messages}/do-not-contact`]: {
    ...managed(),
    badQuery: 'limit=0',
    secondPage: linkedPage('/messages/do-not-contact', (things) => things.stoppedAddress()),
  },
  [`GET ${stopped}`]: ofStopped,
  [`DELETE ${stopped}`]: ofStopped,
  [`GET ${messages}`]: {
    ...managed(),
    badQuery: 'limit=201',
    secondPage: linkedPage('/messages', (things) => things.message()),
  },
  [`GET ${messages}/:messageId`]: managed(async ({ things }) => ({ [ids.message]: await things.message() })),
  'GET /unsubscribe/:token': { needs: 'public', things: linkOf },
  'POST /unsubscribe/:token': { needs: 'public', things: linkOf },
  'POST /webhooks/messages/:connectionId': { needs: 'public', change: report },
}
