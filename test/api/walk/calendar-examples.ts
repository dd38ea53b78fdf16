import { type Call, type Example, type Examples, form } from '#test/api/walk/example.ts'
import { fromAnywhere } from '#test/support/account.ts'
import type { Caller } from '#test/support/factories.ts'
import type { Place } from '#test/support/things.ts'

const root = '/v1/orgs/:orgId/calendar'
const calendars = `${root}/calendars`
const one = `${calendars}/:calId`
const events = `${root}/events`
const event = `${events}/:eventId`
const window = { from: '2026-12-01', to: '2026-12-31' }

/** Permissions are set for each calendar, so a call gives its caller a role for its calendar. */
async function granted(place: Place, caller: Caller, permission: string): Promise<string> {
  const { id, key } = await place.things.calendar()
  if (caller.id !== place.org.ownerId) {
    await place.things.hold(await place.things.role([{ effect: 'allow', actions: [permission], resources: [key] }]), caller.id)
  }
  return id
}

const onCalendar = (permission: string, call: (calId: string, place: Place, caller: Caller) => Call | Promise<Call>): Example => ({
  needs: 'member',
  call: async (place, caller) => call(await granted(place, caller, permission), place, caller),
})
const ofCalendar = (permission: string, body?: unknown): Example =>
  onCalendar(permission, (calId) => ({ params: { calId }, ...(body === undefined ? {} : { body }) }))
const ofEvent = (permission: string, more: Omit<Call, 'params'> = {}): Example =>
  onCalendar(permission, async (calId, { things }) => ({ params: { eventId: await things.calendarEvent(calId) }, ...more }))

const memberEmail = async ({ world }: Place, userId: string): Promise<string> =>
  (await world.db.query<{ email: string }>('select email from users where id = $1', [userId])).rows[0]?.email ?? ''

/** Calendars and events: routes accept members, and the calendar decides what they may do. */
export const calendarExamples: Examples = {
  [`GET ${calendars}`]: { needs: 'member', badQuery: 'all=maybe', call: () => ({}) },
  [`POST ${calendars}`]: {
    needs: 'member',
    peopleOnly: true,
    call: ({ things }) => ({ body: { kind: 'personal', key: things.name(), name: 'Mine' } }),
  },
  [`GET ${one}`]: ofCalendar('calendar:read'),
  [`PATCH ${one}`]: ofCalendar('calendar:manage', { name: 'Changed' }),
  [`DELETE ${one}`]: ofCalendar('calendar:manage'),
  [`POST ${one}/feed`]: ofCalendar('calendar:manage', { enabled: true }),
  [`GET ${one}/export`]: ofCalendar('calendar:read'),
  [`POST ${one}/import`]: onCalendar('calendar:write', (calId) => ({
    params: { calId },
    type: 'text/calendar',
    body: 'BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:one\r\nDTSTART:20261201T090000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n',
  })),
  [`GET ${one}/shares`]: ofCalendar('calendar:manage'),
  [`POST ${one}/shares`]: onCalendar('calendar:manage', async (calId, place) => ({
    params: { calId },
    body: { email: await memberEmail(place, await place.things.member()), level: 'read' },
  })),
  [`DELETE ${one}/shares/:shareId`]: onCalendar('calendar:manage', async (calId, { things }) => ({
    params: { calId, shareId: await things.calendarShare(calId) },
  })),
  [`PATCH ${one}/records/:recordId`]: {
    needs: 'member',
    call: async (place, caller) => {
      const { id, key, record, field, type } = await place.things.recordsCalendar()
      if (caller.id !== place.org.ownerId) {
        const policy = [
          { effect: 'allow', actions: ['calendar:write'], resources: [key] },
          { effect: 'allow', actions: ['records:read', 'records:update'], resources: [type], fields: { allow: [field] } },
        ]
        await place.things.hold(await place.things.role(policy), caller.id)
      }
      return { params: { calId: id, recordId: record }, body: { start: '2026-12-02' } }
    },
  },
  [`GET ${events}`]: { needs: 'member', badQuery: 'from=soon&to=later', call: () => ({ query: window }) },
  [`POST ${events}`]: onCalendar('calendar:write', (calendar_id) => ({
    body: { calendar_id, title: 'Made', start: '2026-12-01T09:00:00Z' },
  })),
  [`GET ${event}`]: ofEvent('calendar:read'),
  [`PATCH ${event}`]: ofEvent('calendar:write', { body: { title: 'Changed' } }),
  [`DELETE ${event}`]: ofEvent('calendar:write'),
  [`POST ${event}/rsvp`]: {
    needs: 'member',
    peopleOnly: true,
    call: async ({ things }, { id }) => {
      const { id: calId } = await things.calendar()
      return { params: { eventId: await things.calendarEvent(calId, { attendees: [{ user_id: id }] }) }, body: { status: 'accepted' } }
    },
  },
  'GET /cal/:orgId/book/:calendarKey': {
    needs: 'public',
    call: async ({ things }) => ({ params: { calendarKey: await things.bookingPage() } }),
  },
  'GET /cal/:orgId/book/:calendarKey/slots': {
    needs: 'public',
    badQuery: 'from=soon&to=later',
    call: async ({ things }) => ({ params: { calendarKey: await things.bookingPage() }, query: window }),
  },
  'POST /cal/:orgId/book/:calendarKey': {
    needs: 'public',
    call: async ({ things }) => ({
      params: { calendarKey: await things.bookingPage() },
      body: { start: things.bookingTime(), name: 'Vera Visitor', email: 'vera@example.com' },
    }),
  },
  'GET /cal/:orgId/feed/:token': { needs: 'public', call: async ({ things }) => ({ params: { token: await things.calendarFeed() } }) },
  'GET /cal/:orgId/rsvp/:token': {
    needs: 'public',
    call: async ({ things }) => ({ params: { token: await things.calendarInvitation() } }),
  },
  'POST /cal/:orgId/rsvp/:token': {
    needs: 'public',
    call: async ({ things }) => ({ params: { token: await things.calendarInvitation() }, body: { status: 'tentative' } }),
  },
  'GET /cal/:orgId/rsvp/:token/ics': {
    needs: 'public',
    call: async ({ things }) => ({ params: { token: await things.calendarInvitation() } }),
  },
  'GET /book/:orgId/:calendarKey': {
    needs: 'public',
    call: async ({ things }) => ({ params: { calendarKey: await things.bookingPage() } }),
  },
  'POST /book/:orgId/:calendarKey': {
    needs: 'public',
    call: async ({ things }) => ({
      params: { calendarKey: await things.bookingPage() },
      ...form({ start: things.bookingTime(), name: 'Vera Visitor', email: 'vera@example.com' }),
    }),
  },
  'GET /rsvp/:orgId/:token': { needs: 'public', call: async ({ things }) => ({ params: { token: await things.calendarInvitation() } }) },
  'POST /rsvp/:orgId/:token': {
    needs: 'public',
    call: async ({ things, world, org }) => {
      const token = await things.calendarInvitation()
      const page = await world.visitor.get(`/rsvp/${org.id}/${token}`, fromAnywhere())
      const formToken = /name="form_token" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
      return { params: { token }, ...form({ form_token: formToken, status: 'accepted' }) }
    },
  },
  [`GET ${root}/freebusy`]: { needs: 'member', badQuery: 'from=soon&to=later', call: () => ({ query: window }) },
  [`POST ${root}/suggest`]: { needs: 'member', call: () => ({ body: { ...window, duration: 30 } }) },
  [`GET ${root}/records/:typeKey/:recordId/events`]: {
    needs: 'records:read',
    on: ({ params }) => params?.typeKey ?? '',
    call: async ({ things, keys }) => ({ params: { typeKey: keys.type, recordId: await things.record() } }),
  },
}
