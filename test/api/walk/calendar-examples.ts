import { ids } from '#api/http/example-ids.ts'
import type { Texts, Walked, WalkedRoutes } from '#test/api/walk/example.ts'
import { fromAnywhere } from '#test/support/account.ts'
import type { Caller } from '#test/support/factories.ts'
import type { Place } from '#test/support/things.ts'

const root = '/v1/orgs/:orgId/calendar'
const calendars = `${root}/calendars`
const one = `${calendars}/:calId`
const events = `${root}/events`
const event = `${events}/:eventId`
const bookable = '2026-12-01T09:00:00Z'
const invitation = 'example-token-of-the-invitation'

/** Permissions are set for each calendar, so a call gives its caller a role for its calendar. */
async function granted(place: Place, caller: Caller, permission: string): Promise<string> {
  const { id, key } = await place.things.calendar()
  if (caller.id !== place.org.ownerId) {
    await place.things.hold(await place.things.role([{ effect: 'allow', actions: [permission], resources: [key] }]), caller.id)
  }
  return id
}

/** A route of a calendar, and of the thing that `more` makes in it: the text that stands for it in the example, and what makes it. */
const ofCalendar = (
  permission: string,
  more?: readonly [text: string, make: (place: Place, calId: string) => Promise<string>],
): Walked => ({
  needs: 'member',
  things: async (place, caller) => {
    const calId = await granted(place, caller, permission)
    return { [ids.calendar]: calId, ...(more ? { [more[0]]: await more[1](place, calId) } : {}) }
  },
})
const ofEvent = (permission: string): Walked => ({
  needs: 'member',
  things: async (place, caller) => ({ [ids.event]: await place.things.calendarEvent(await granted(place, caller, permission)) }),
})
const ofVisitor = (things: (place: Place) => Promise<Texts>): Walked => ({ needs: 'public', things })

const ofPage = ofVisitor(async ({ things }) => ({ tastings: await things.bookingPage() }))
const booking = async ({ things }: Place) => ({ tastings: await things.bookingPage(), [bookable]: things.bookingTime() })
const ofInvitation = ofVisitor(async ({ things }) => ({ [invitation]: await things.calendarInvitation() }))

/** An invitation with the token of the form on its page. */
async function answerable({ things, world, org }: Place): Promise<Texts> {
  const token = await things.calendarInvitation()
  const page = await world.visitor.get(`/rsvp/${org.id}/${token}`, fromAnywhere())
  return { [invitation]: token, 'example-form-token': /name="form_token" value="([^"]+)"/.exec(page.text)?.[1] ?? '' }
}

const memberEmail = async ({ world }: Place, userId: string): Promise<string> =>
  (await world.db.query<{ email: string }>('select email from users where id = $1', [userId])).rows[0]?.email ?? ''

/** Calendars and events: routes accept members, and the calendar decides what they may do. */
export const calendarExamples: WalkedRoutes = {
  [`GET ${calendars}`]: { needs: 'member', badQuery: 'all=maybe' },
  [`POST ${calendars}`]: { needs: 'member', peopleOnly: true, things: ({ things }) => ({ tastings: things.name() }) },
  [`GET ${one}`]: ofCalendar('calendar:read'),
  [`PATCH ${one}`]: ofCalendar('calendar:manage'),
  [`DELETE ${one}`]: ofCalendar('calendar:manage'),
  [`POST ${one}/feed`]: ofCalendar('calendar:manage'),
  [`GET ${one}/export`]: ofCalendar('calendar:read'),
  [`POST ${one}/import`]: ofCalendar('calendar:write'),
  [`GET ${one}/shares`]: ofCalendar('calendar:manage'),
  [`POST ${one}/shares`]: ofCalendar('calendar:manage', [
    'ben@example.com',
    async (place) => memberEmail(place, await place.things.member()),
  ]),
  [`DELETE ${one}/shares/:shareId`]: ofCalendar('calendar:manage', [ids.calendarShare, ({ things }, calId) => things.calendarShare(calId)]),
  [`PATCH ${one}/records/:recordId`]: {
    needs: 'member',
    things: async (place, caller) => {
      const { id, key, record, field, type } = await place.things.recordsCalendar()
      if (caller.id !== place.org.ownerId) {
        const policy = [
          { effect: 'allow', actions: ['calendar:write'], resources: [key] },
          { effect: 'allow', actions: ['records:read', 'records:update'], resources: [type], fields: { allow: [field] } },
        ]
        await place.things.hold(await place.things.role(policy), caller.id)
      }
      return { [ids.calendar]: id, [ids.order]: record }
    },
  },
  [`GET ${events}`]: { needs: 'member', badQuery: 'from=soon&to=later' },
  [`POST ${events}`]: ofCalendar('calendar:write'),
  [`GET ${event}`]: ofEvent('calendar:read'),
  [`PATCH ${event}`]: ofEvent('calendar:write'),
  [`DELETE ${event}`]: ofEvent('calendar:write'),
  [`POST ${event}/rsvp`]: {
    needs: 'member',
    peopleOnly: true,
    things: async ({ things }, { id }) => {
      const { id: calId } = await things.calendar()
      return { [ids.event]: await things.calendarEvent(calId, { attendees: [{ user_id: id }] }) }
    },
  },
  'GET /cal/:orgId/book/:calendarKey': ofPage,
  'GET /cal/:orgId/book/:calendarKey/slots': { ...ofPage, badQuery: 'from=soon&to=later' },
  'POST /cal/:orgId/book/:calendarKey': ofVisitor(booking),
  'GET /cal/:orgId/feed/:token': ofVisitor(async ({ things }) => ({ 'example-token-of-the-feed.ics': await things.calendarFeed() })),
  'GET /cal/:orgId/rsvp/:token': ofInvitation,
  'POST /cal/:orgId/rsvp/:token': ofInvitation,
  'GET /cal/:orgId/rsvp/:token/ics': ofInvitation,
  'GET /book/:orgId/:calendarKey': ofPage,
  'POST /book/:orgId/:calendarKey': ofVisitor(booking),
  'GET /rsvp/:orgId/:token': ofInvitation,
  'POST /rsvp/:orgId/:token': ofVisitor(answerable),
  [`GET ${root}/freebusy`]: { needs: 'member', badQuery: 'from=soon&to=later' },
  [`POST ${root}/suggest`]: { needs: 'member' },
  [`GET ${root}/records/:typeKey/:recordId/events`]: {
    needs: 'records:read',
    on: ({ params }) => params?.typeKey ?? '',
    things: async ({ things }) => ({ [ids.order]: await things.record() }),
  },
}
