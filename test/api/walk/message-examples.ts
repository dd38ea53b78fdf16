import type { Call, Example, Examples } from '#test/api/walk/example.ts'
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

/** Connections and templates of messages, what was sent, and who wants none. */
export const messageExamples: Examples = {
  [`GET ${messages}/connections`]: managed(() => ({})),
  [`POST ${messages}/connections`]: managed(() => ({ body: { name: 'Post', host: 'mail.example.com', from: 'shop@example.com' } })),
  [`GET ${connection}`]: ofConnection(),
  [`PATCH ${connection}`]: ofConnection({ name: 'Changed' }),
  [`DELETE ${connection}`]: ofConnection(),
  [`POST ${connection}/test`]: ofConnection(),
  [`GET ${messages}/templates`]: managed(() => ({})),
  [`POST ${messages}/templates`]: managed(() => ({ body: { name: 'New', subject: 'Hello {{name}}', body_text: 'Hello' } })),
  [`GET ${template}`]: ofTemplate(),
  [`PATCH ${template}`]: ofTemplate({ subject: 'Changed' }),
  [`DELETE ${template}`]: ofTemplate(),
  [`GET ${messages}/do-not-contact`]: managed(() => ({}), { badQuery: 'limit=0' }),
  [`GET ${stopped}`]: ofStopped,
  [`DELETE ${stopped}`]: ofStopped,
  [`GET ${messages}`]: managed(() => ({}), { badQuery: 'limit=201' }),
  [`GET ${messages}/:messageId`]: managed(async ({ things }) => ({ params: { messageId: await things.message() } })),
}
