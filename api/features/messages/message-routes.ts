import * as examples from '#api/features/messages/examples.ts'
import { ids } from '#api/http/example-ids.ts'
import { withNextLink } from '#api/http/reply/link-header.ts'
import { answer, orgPath } from '#api/http/route.ts'
import { getDoNotContactEntry, listDoNotContact, removeDoNotContactEntry } from '#shared/features/messages/do-not-contact/do-not-contact.ts'
import { doNotContactEntry, doNotContactQuery } from '#shared/features/messages/do-not-contact/schemas.ts'
import { getMessage, listMessages } from '#shared/features/messages/sending/messages.ts'
import { messageQuery, messageSummary, messageView } from '#shared/features/messages/sending/schemas.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

const common = { tag: 'Messages', app: null, limit: null, permission: 'messages:manage' } as const
const messages = `${orgPath}/messages` as const
const doNotContact = `${messages}/do-not-contact` as const

/** Sent messages and the do-not-contact list. */
export const routes = [
  answer({
    ...common,
    method: 'GET',
    path: doNotContact,
    summary: 'List addresses that get no messages',
    description:
      'In alphabetical order. An address is added when its owner unsubscribes or a provider reports a complaint. The header Link names the next page.',
    example: { query: { limit: 20 }, answer: [examples.stopped] },
    query: doNotContactQuery,
    status: 200,
    linked: true,
    response: schema(t.Array(doNotContactEntry.json)),
    handle: async (request, scope) => withNextLink(request, scope, await listDoNotContact(scope, request.query)),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${doNotContact}/:address`,
    summary: 'Get an address that gets no messages',
    description: 'NOT_FOUND for an address that gets messages.',
    example: { params: { address: 'lena@cafe-lindgren.example' }, answer: examples.stopped },
    status: 200,
    response: doNotContactEntry,
    handle: ({ params }, scope) => getDoNotContactEntry(scope, params.address),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: `${doNotContact}/:address`,
    summary: 'Let an address get messages again',
    description: 'For a recipient who asks for messages again.',
    example: { params: { address: 'lena@cafe-lindgren.example' } },
    status: 204,
    response: null,
    handle: ({ params }, scope) => removeDoNotContactEntry(scope, params.address),
  }),
  answer({
    ...common,
    method: 'GET',
    path: messages,
    summary: 'List messages',
    description: 'Messages sent by functions and flows, newest first. The header Link names the next page.',
    example: { query: { status: 'sent', limit: 20 }, answer: [examples.listedMessage] },
    query: messageQuery,
    status: 200,
    linked: true,
    response: schema(t.Array(messageSummary.json)),
    handle: async (request, scope) => withNextLink(request, scope, await listMessages(scope, request.query)),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${messages}/:messageId`,
    summary: 'Get a message',
    description: 'With its text, which is kept for 30 days.',
    example: { params: { messageId: ids.message }, answer: examples.message },
    status: 200,
    response: messageView,
    handle: ({ params }, scope) => getMessage(scope, params.messageId),
  }),
]
