import * as examples from '#api/features/calendar/examples.ts'
import { byKey } from '#api/http/declaration.ts'
import { ids } from '#api/http/example-ids.ts'
import { answer, orgPath } from '#api/http/route.ts'
import { requireRecordType } from '#shared/core/types/record-type.ts'
import { getFreeBusy } from '#shared/features/calendar/availability/free-busy.ts'
import { freeBusy, freeBusyQuery, suggestedTimes, suggestInput } from '#shared/features/calendar/availability/schemas.ts'
import { suggestTimes } from '#shared/features/calendar/availability/suggest-times.ts'
import { changeEvent } from '#shared/features/calendar/events/change-event.ts'
import { createEvent } from '#shared/features/calendar/events/create-event.ts'
import { deleteEvent } from '#shared/features/calendar/events/delete-event.ts'
import { listEvents } from '#shared/features/calendar/events/list-events.ts'
import { eventsOfRecord, getEvent } from '#shared/features/calendar/events/read-event.ts'
import {
  answerInput,
  changeQuery,
  eventChange,
  eventInput,
  eventList,
  eventView,
  listQuery,
} from '#shared/features/calendar/events/schemas.ts'
import { answerInvitation } from '#shared/features/calendar/guests/answer-invitation.ts'
import { deletedCalendarItem } from '#shared/features/calendar/schemas.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

const common = { tag: 'Calendar events', app: 'calendar', permission: 'member', limit: null } as const
const events = `${orgPath}/calendar/events` as const
const event = `${events}/:eventId` as const

export const routes = [
  answer({
    ...common,
    method: 'GET',
    path: events,
    summary: 'List events in a window',
    description: 'Series are expanded, into at most 2,000 occurrences. Events whose details the caller may not see appear as busy times.',
    example: { query: { from: '2026-12-01', to: '2026-12-31' }, answer: { events: [examples.occurrence] } },
    query: listQuery,
    status: 200,
    response: eventList,
    handle: ({ query }, scope) => listEvents(scope, query),
  }),
  answer({
    ...common,
    method: 'POST',
    path: events,
    summary: 'Create an event',
    description: 'Guests are mailed an invitation unless notify is false.',
    example: {
      body: {
        calendar_id: ids.calendar,
        title: 'Tasting with Café Lindgren',
        location: 'Roastery, Dock 4',
        start: '2026-12-01T09:00:00Z',
        end: '2026-12-01T10:00:00Z',
      },
      answer: examples.newEvent,
    },
    body: eventInput,
    fails: ['FORBIDDEN', 'SLOT_TAKEN'],
    status: 201,
    response: eventView,
    handle: ({ body }, scope) => createEvent(scope, body),
  }),
  answer({
    ...common,
    method: 'GET',
    path: event,
    summary: 'Get an event',
    description: 'An event whose details are hidden from the caller is not found; lists show its time.',
    example: { params: { eventId: ids.event }, answer: examples.event },
    status: 200,
    response: eventView,
    handle: ({ params }, scope) => getEvent(scope, params.eventId),
  }),
  answer({
    ...common,
    method: 'PATCH',
    path: event,
    summary: 'Change an event',
    description: 'Of a series: all, this, or this and following occurrences. Guests are mailed the changes that concern them.',
    example: {
      params: { eventId: ids.event },
      query: { scope: 'all', notify: '1' },
      body: { start: '2026-12-01T13:00:00Z', end: '2026-12-01T14:00:00Z' },
      answer: examples.movedEvent,
    },
    query: changeQuery,
    body: eventChange,
    stored: ({ params }, scope) => getEvent(scope, params.eventId),
    fails: ['FORBIDDEN', 'SLOT_TAKEN'],
    status: 200,
    response: eventView,
    handle: ({ params, query, body }, scope) => changeEvent(scope, params.eventId, body, query),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: event,
    summary: 'Delete an event',
    description: 'Of a series: all, this, or this and following occurrences. Guests are mailed a cancellation unless notify is 0.',
    example: { params: { eventId: ids.event }, answer: { deleted: true } },
    query: changeQuery,
    fails: ['FORBIDDEN'],
    status: 200,
    response: deletedCalendarItem,
    handle: ({ params, query }, scope) => deleteEvent(scope, params.eventId, query),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${event}/rsvp`,
    summary: 'Answer my invitation',
    description: 'For guests who are members; others answer with the link in their mail.',
    example: { params: { eventId: ids.event }, body: { status: 'accepted' }, answer: examples.acceptedEvent },
    body: answerInput,
    fails: ['FORBIDDEN'],
    status: 200,
    response: eventView,
    handle: ({ params, body }, scope) => answerInvitation(scope, params.eventId, body.status),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${orgPath}/calendar/freebusy`,
    summary: 'Get busy times of people and calendars',
    description: 'Times only, without reasons. `unknown` is true for people and calendars that the caller cannot see.',
    example: { query: { from: '2026-12-01', to: '2026-12-31', users: ids.owner }, answer: examples.freeBusy },
    query: freeBusyQuery,
    status: 200,
    response: freeBusy,
    handle: ({ query }, scope) => getFreeBusy(scope, query),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${orgPath}/calendar/suggest`,
    summary: 'Suggest times when everybody is free',
    description: 'Earliest first. `unknown` lists people whose calendars the caller cannot see.',
    example: { body: { users: [ids.owner], from: '2026-12-01', to: '2026-12-31', duration: 30, limit: 2 }, answer: examples.suggestion },
    body: suggestInput,
    status: 200,
    response: suggestedTimes,
    handle: ({ body }, scope) => suggestTimes(scope, body),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${orgPath}/calendar/records/:typeKey/:recordId/events`,
    summary: 'List the events that are linked to a record',
    description: 'Only events that the caller may see.',
    example: { params: { typeKey: 'orders', recordId: ids.order }, answer: [examples.event] },
    permission: 'records:read',
    on: async ({ params }, scope) => byKey(await requireRecordType(scope, params.typeKey)),
    status: 200,
    response: schema(t.Array(eventView.json)),
    handle: ({ params }, scope) => eventsOfRecord(scope, params.typeKey, params.recordId),
  }),
]
