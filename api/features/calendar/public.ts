import { onBookingPage } from '#api/features/calendar/book-pages.ts'
import * as examples from '#api/features/calendar/examples.ts'
import { isNotModified } from '#api/http/reply/conditions.ts'
import { Reply } from '#api/http/reply/reply.ts'
import { answer, delegate } from '#api/http/route.ts'
import { findPrincipal } from '#shared/core/people/principals.ts'
import { loadActor } from '#shared/core/scope/actor.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { bookSlot } from '#shared/features/calendar/booking/book.ts'
import {
  booked,
  bookingInput,
  bookingPageView,
  guestAnswerInput,
  invitation,
  slotList,
  slotsQuery,
} from '#shared/features/calendar/booking/schemas.ts'
import { listSlots, viewBookingPage } from '#shared/features/calendar/booking/view-page.ts'
import { requireFeed } from '#shared/features/calendar/feeds/feed.ts'
import { answerByToken, invitationFile, viewInvitation } from '#shared/features/calendar/guests/invitation-page.ts'
import { exportCalendarJob } from '#shared/features/calendar/jobs.ts'

const common = { tag: 'Public calendars', app: 'calendar', permission: 'public', limit: 'calendar' } as const
const page = '/cal/:orgId/book/:calendarKey' as const
const ofPage = { ...common, on: onBookingPage } as const
const rsvp = '/cal/:orgId/rsvp/:token' as const
const files = { 'Content-Type': 'text/calendar; charset=utf-8', 'X-Content-Type-Options': 'nosniff' }

/** The secret of a subscription link, which may end with .ics. */
const secretOf = ({ token }: { readonly token: string }): string => token.replace(/\.ics$/, '')

/** The caller whose credentials a public request carries; undefined without credentials that are valid in the workspace. */
async function readerOf(scope: Scope, authorization: string): Promise<Scope | undefined> {
  const [, token] = /^Bearer +(\S+)$/i.exec(authorization) ?? []
  const principal = token === undefined ? null : await findPrincipal(scope.cache, scope.db, token, scope.now())
  if (!principal || 'expiredAt' in principal || (principal.workspaceId !== null && principal.workspaceId !== scope.workspace.id))
    return undefined
  const actor = await loadActor(scope.cache, scope.db, scope.workspace.id, principal.id)
  return actor && { ...scope, principal, actor }
}

export const routes = [
  answer({
    ...ofPage,
    method: 'GET',
    path: page,
    summary: 'Get a booking page',
    description: 'The durations, hours and time zone of the page.',
    example: { params: { calendarKey: 'tastings' }, answer: examples.bookingPage },
    status: 200,
    response: bookingPageView,
    handle: ({ resource }, scope) => viewBookingPage(scope, resource),
  }),
  answer({
    ...ofPage,
    method: 'GET',
    path: `${page}/slots`,
    summary: 'List the free times of a booking page',
    description: 'explain=1 adds the refused starts and the reasons, for callers who may read the calendar.',
    example: {
      params: { calendarKey: 'tastings' },
      query: { from: '2026-12-01', to: '2026-12-02', duration: 30 },
      answer: { slots: examples.slots },
    },
    query: slotsQuery,
    status: 200,
    response: slotList,
    handle: async ({ resource, query, header }, scope) => listSlots(scope, resource, query, await readerOf(scope, header('Authorization'))),
  }),
  answer({
    ...ofPage,
    method: 'POST',
    path: page,
    summary: 'Book a time',
    description: 'A confirmation is mailed. Repeating an Idempotency-Key returns the first answer.',
    example: { params: { calendarKey: 'tastings' }, body: examples.visitor, answer: examples.booked },
    body: bookingInput,
    handlesVisitorKeys: true,
    fails: ['SLOT_TAKEN'],
    status: 201,
    response: booked,
    handle: ({ resource, body, idempotencyKey }, scope) => bookSlot(scope, resource, body, { key: idempotencyKey(), isExact: true }),
  }),
  delegate({
    ...common,
    method: 'GET',
    path: '/cal/:orgId/feed/:token',
    summary: 'Subscribe to a calendar',
    description:
      'The secret link may end with .ics. Private events appear as busy times. Conditional requests get 304 while nothing has changed.',
    example: { params: { token: 'example-token-of-the-feed.ics' }, file: examples.file },
    fails: ['PRECONDITION_FAILED'],
    job: exportCalendarJob,
    makes: 'text/calendar',
    statuses: [304],
    ready: async ({ params, header }, scope) => {
      const { etag, changedAt, headers, storedFile } = await requireFeed(scope, secretOf(params))
      if (isNotModified(header, { etag, changedAt })) return new Reply(null, headers, 304)
      return (
        storedFile && new Reply(() => scope.blobs.read(storedFile.blobId), { ...headers, 'Content-Length': String(storedFile.sizeBytes) })
      )
    },
    payload: async ({ params }, scope) => ({
      calendarId: (await requireFeed(scope, secretOf(params))).calendarId,
      reader: 'link' as const,
    }),
  }),
  answer({
    ...common,
    origins: 'own',
    method: 'GET',
    path: rsvp,
    summary: 'Get an invitation',
    description: 'By the token in a mail. Reading the invitation does not answer it.',
    example: { params: { token: 'example-token-of-the-invitation' }, answer: examples.invitation },
    status: 200,
    response: invitation,
    handle: ({ params }, scope) => viewInvitation(scope, params.token),
  }),
  answer({
    ...common,
    origins: 'own',
    method: 'POST',
    path: rsvp,
    summary: 'Answer an invitation',
    description: 'A booking is cancelled when its visitor declines.',
    example: { params: { token: 'example-token-of-the-invitation' }, body: { status: 'tentative' }, answer: examples.uncertain },
    body: guestAnswerInput,
    status: 200,
    response: invitation,
    handle: ({ params, body }, scope) => answerByToken(scope, params.token, body.status),
  }),
  answer({
    ...common,
    origins: 'own',
    method: 'GET',
    path: `${rsvp}/ics`,
    summary: 'Get the event of an invitation as .ics',
    description: 'For calendar programs.',
    example: { params: { token: 'example-token-of-the-invitation' }, file: examples.invitationFile },
    status: 200,
    response: null,
    contentType: 'text/calendar',
    handle: async ({ params }, scope) =>
      new Reply(await invitationFile(scope, params.token), { ...files, 'Content-Disposition': 'attachment; filename="invitation.ics"' }),
  }),
]
