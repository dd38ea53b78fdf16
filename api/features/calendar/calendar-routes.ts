import * as examples from '#api/features/calendar/examples.ts'
import { byKey } from '#api/http/declaration.ts'
import { ids } from '#api/http/example-ids.ts'
import { Replaced } from '#api/http/reply/reply.ts'
import { answer, delegate, orgPath } from '#api/http/route.ts'
import { requireCalendar } from '#shared/features/calendar/access.ts'
import {
  calendarViewOf,
  changeCalendar,
  createCalendar,
  deleteCalendar,
  getCalendar,
  listCalendars,
} from '#shared/features/calendar/calendars/calendars.ts'
import { addCalendarShare, listCalendarShares, removeCalendarShare } from '#shared/features/calendar/calendars/shares.ts'
import { switchFeed } from '#shared/features/calendar/feeds/feed-link.ts'
import { requireImportCalendar } from '#shared/features/calendar/import-export/import-events.ts'
import { exportCalendarJob, importCalendarJob } from '#shared/features/calendar/jobs.ts'
import { moveRecord } from '#shared/features/calendar/record-calendars/move-record.ts'
import { movedRecord, recordMoveInput } from '#shared/features/calendar/record-calendars/schemas.ts'
import {
  calendarChange,
  calendarInput,
  calendarShareInput,
  calendarShareView,
  calendarView,
  deletedCalendarItem,
  flag,
  isFlagOn,
} from '#shared/features/calendar/schemas.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

// Access is decided per calendar, by roles, shares, visibility and ownership (`requireCalendar`).
const common = { tag: 'Calendars', app: 'calendar', permission: 'member', limit: null } as const
const calendars = `${orgPath}/calendar/calendars` as const
const calendar = `${calendars}/:calId` as const
/** The maximum size of an imported file (docs/contract/calendar.md#import). */
const maxImportBytes = 25 * 1024 * 1024
const shares = `${calendar}/shares` as const

export const routes = [
  answer({
    ...common,
    method: 'GET',
    path: calendars,
    summary: 'List calendars',
    description: "The caller's own calendars, those shared with it, and those that its roles give access to.",
    example: { answer: [examples.tastings] },
    query: schema(
      t.Object({
        all: t.Optional(flag("1 adds other members' personal calendars that are visible to the caller.")),
      }),
    ),
    status: 200,
    response: schema(t.Array(calendarView.json)),
    handle: ({ query }, scope) => listCalendars(scope, isFlagOn(query.all, false)),
  }),
  answer({
    ...common,
    method: 'POST',
    path: calendars,
    summary: 'Create a calendar',
    description: 'A personal calendar belongs to the person who creates it; any other needs calendar:manage on its key.',
    example: {
      body: { kind: 'personal', key: 'tastings', name: 'Tastings', visibility: 'busy', settings: { booking: examples.booking } },
      answer: examples.tastings,
    },
    body: calendarInput,
    fails: ['KEY_TAKEN', 'FORBIDDEN'],
    status: 201,
    response: calendarView,
    handle: ({ body }, scope) => createCalendar(scope, body),
  }),
  answer({
    ...common,
    method: 'GET',
    path: calendar,
    summary: 'Get a calendar',
    description: 'NOT_FOUND for a calendar that the caller cannot see.',
    example: { params: { calId: ids.calendar }, answer: examples.tastings },
    status: 200,
    response: calendarView,
    handle: ({ params }, scope) => getCalendar(scope, params.calId),
  }),
  answer({
    ...common,
    method: 'PATCH',
    path: calendar,
    summary: 'Change a calendar',
    description:
      'Omitted properties stay unchanged. `settings` are merged by key, and null removes a key; `booking` and `source` are replaced as a whole.',
    example: { params: { calId: ids.calendar }, body: { name: 'Tastings at the roastery' }, answer: examples.renamed },
    body: calendarChange,
    stored: ({ params }, scope) => getCalendar(scope, params.calId),
    fails: ['FORBIDDEN'],
    status: 200,
    response: calendarView,
    handle: ({ params, body }, scope) => changeCalendar(scope, params.calId, body),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: calendar,
    summary: 'Delete a calendar',
    description: 'Deletes the events of the calendar, too. The team calendar and main calendars of people cannot be deleted.',
    example: { params: { calId: ids.calendar }, answer: { deleted: true } },
    fails: ['FORBIDDEN'],
    status: 200,
    response: deletedCalendarItem,
    handle: ({ params }, scope) => deleteCalendar(scope, params.calId),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${calendar}/feed`,
    summary: 'Turn the subscription link on or off',
    description: 'Turning it on always creates a new link; the old one no longer works.',
    example: { params: { calId: ids.calendar }, body: { enabled: true }, answer: examples.subscribed },
    body: schema(t.Object({ enabled: t.Boolean() }, { title: 'FeedSwitch' })),
    fails: ['FORBIDDEN'],
    status: 200,
    response: calendarView,
    handle: async ({ params, body }, scope) => calendarViewOf(scope, await switchFeed(scope, params.calId, body.enabled)),
  }),
  delegate({
    ...common,
    method: 'GET',
    path: `${calendar}/export`,
    summary: 'Export a calendar as .ics',
    description: 'With guests. Events whose details the caller may not see appear as busy times.',
    example: { params: { calId: ids.calendar }, file: examples.file },
    fails: ['FORBIDDEN'],
    job: exportCalendarJob,
    makes: 'text/calendar',
    payload: async ({ params }, scope) => {
      const { calendar } = await requireCalendar(scope, params.calId, 'read')
      return { calendarId: calendar.id, reader: 'caller' as const }
    },
  }),
  delegate({
    ...common,
    method: 'POST',
    path: `${calendar}/import`,
    summary: 'Import events from .ics',
    description:
      'Up to 2,000 events. An event whose UID exists is updated; an unreadable event is left out with a warning. Nobody is mailed.',
    example: { params: { calId: ids.calendar }, body: examples.file, answer: { created: 1, updated: 0, skipped: 0, warnings: [] } },
    fails: ['FORBIDDEN'],
    on: async ({ params }, scope) => byKey(await requireImportCalendar(scope, params.calId)),
    upload: { maxBytes: maxImportBytes, contentTypes: ['text/calendar', 'text/plain', 'application/octet-stream', 'application/ics'] },
    job: importCalendarJob,
    makes: 'json',
    payload: ({ resource }, _scope, fileId) => ({ calendarId: resource.id, fileId }),
  }),
  answer({
    ...common,
    method: 'PATCH',
    path: `${calendar}/records/:recordId`,
    summary: 'Move a record of a records calendar',
    description: 'Needs calendar:write on the calendar, and records:update and read access to the written fields of the record.',
    example: { params: { calId: ids.calendar, recordId: ids.order }, body: { start: '2026-12-02' }, answer: { moved: true } },
    body: recordMoveInput,
    fails: ['FORBIDDEN', 'DUPLICATE_VALUE'],
    status: 200,
    response: movedRecord,
    handle: ({ params, body }, scope) => moveRecord(scope, params.calId, params.recordId, body),
  }),
  answer({
    ...common,
    method: 'GET',
    path: shares,
    summary: 'List the shares of a calendar',
    description: 'Needs access to manage the calendar.',
    example: { params: { calId: ids.calendar }, answer: [examples.share] },
    fails: ['FORBIDDEN'],
    status: 200,
    response: schema(t.Array(calendarShareView.json)),
    handle: ({ params }, scope) => listCalendarShares(scope, params.calId),
  }),
  answer({
    ...common,
    method: 'POST',
    path: shares,
    summary: 'Share a calendar with a member',
    description: 'Sharing again with the same person replaces the level.',
    example: { params: { calId: ids.calendar }, body: { email: 'ben@example.com', level: 'read' }, answer: examples.share },
    body: calendarShareInput,
    fails: ['FORBIDDEN'],
    status: 201,
    replaces: true,
    response: calendarShareView,
    handle: async ({ params, body }, scope) => {
      const { share, isNew } = await addCalendarShare(scope, params.calId, body)
      return isNew ? share : new Replaced(share)
    },
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: `${shares}/:shareId`,
    summary: 'Delete a share of a calendar',
    description: 'Takes effect with the next request.',
    example: { params: { calId: ids.calendar, shareId: ids.calendarShare }, answer: { deleted: true } },
    fails: ['FORBIDDEN'],
    status: 200,
    response: deletedCalendarItem,
    handle: ({ params }, scope) => removeCalendarShare(scope, params.calId, params.shareId),
  }),
]
