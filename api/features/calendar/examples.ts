import { ids } from '#api/http/example-ids.ts'

const hours = { tue: [['09:00', '12:00']], thu: [['14:00', '17:00']] }
export const booking = { enabled: true, title: 'Coffee tasting', location: 'Roastery, Dock 4', durations: [30], hours }

export const tastings = {
  id: ids.calendar,
  key: 'tastings',
  name: 'Tastings',
  description: '',
  color: '',
  kind: 'personal',
  primary: false,
  visibility: 'busy',
  timezone: 'Europe/Berlin',
  access: 'owner',
  settings: { booking },
  booking_url: `https://kontor.example.com/book/${ids.workspace}/tastings`,
  created_at: '2026-11-12T08:32:10.099387Z',
  updated_at: '2026-11-12T08:32:10.099387Z',
}
export const renamed = { ...tastings, name: 'Tastings at the roastery', updated_at: '2026-11-21T09:30:00.269000Z' }
export const subscribed = {
  ...tastings,
  feed_url: `https://kontor.example.com/cal/${ids.workspace}/feed/example-token-of-the-feed.ics`,
  updated_at: '2026-11-21T09:30:00.446000Z',
}

export const share = {
  id: ids.calendarShare,
  email: 'ben@example.com',
  user_id: ids.member,
  name: 'Ben Okafor',
  level: 'read',
  created_at: '2026-11-21T09:30:00.966049Z',
}

const attendee = { id: ids.attendee, email: 'ben@example.com', name: 'Ben Okafor', status: 'needs_action', mailed: true }
export const event = {
  id: ids.event,
  calendar_id: ids.calendar,
  calendar_name: 'Tastings',
  title: 'Tasting with Café Lindgren',
  description: '',
  location: 'Roastery, Dock 4',
  color: '',
  start: '2026-12-01T09:00:00.000000Z',
  end: '2026-12-01T10:00:00.000000Z',
  all_day: false,
  timezone: 'Europe/Berlin',
  recurrence: '',
  recurrence_text: '',
  status: 'confirmed',
  visibility: 'default',
  reminders: [],
  source: 'manual',
  attendees: [attendee],
  series_id: null,
  original_start: null,
  record_type: 'orders',
  record_id: ids.order,
  can_edit: true,
  created_at: '2026-11-21T09:30:00.218000Z',
  updated_at: '2026-11-21T09:30:00.218000Z',
}
export const newEvent = { ...event, attendees: [], record_type: null, record_id: null }
export const movedEvent = { ...event, start: '2026-12-01T13:00:00.000000Z', end: '2026-12-01T14:00:00.000000Z' }
export const acceptedEvent = { ...event, attendees: [{ ...attendee, status: 'accepted' }] }
export const occurrence = {
  event_id: ids.event,
  series_id: null,
  calendar_id: ids.calendar,
  start: event.start,
  end: event.end,
  all_day: false,
  title: event.title,
  status: 'confirmed',
  recurring: false,
  details: true,
}

export const freeBusy = {
  users: [{ id: ids.owner, busy: [{ start: event.start, end: event.end }], unknown: false }],
  calendars: [],
}
export const suggestion = {
  slots: [
    { start: '2026-12-01T08:00:00.000000Z', end: '2026-12-01T08:30:00.000000Z' },
    { start: '2026-12-01T08:30:00.000000Z', end: '2026-12-01T09:00:00.000000Z' },
  ],
  unknown: [],
}

export const bookingPage = {
  title: 'Coffee tasting',
  description: '',
  durations: [30],
  timezone: 'Europe/Berlin',
  location: 'Roastery, Dock 4',
  horizon_days: 30,
  hours,
  owner_name: 'Ada Lindqvist',
  org_name: 'Harbour Coffee',
  color: '#0b5c6b',
}
/** The first hours of a Tuesday in Berlin, every 30 minutes. */
export const slots = ['08:00', '08:30', '09:00', '09:30', '10:00', '10:30'].map((time) => `2026-12-01T${time}:00.000000Z`)
export const visitor = { start: '2026-12-01T09:00:00Z', name: 'Lena Lindgren', email: 'lena@cafe-lindgren.example' }
export const booked = {
  ok: true,
  start: '2026-12-01T09:00:00.000000Z',
  end: '2026-12-01T09:30:00.000000Z',
  token: 'example-token-of-the-invitation',
}
export const invitation = {
  title: 'Coffee tasting: Lena Lindgren',
  description: '',
  location: 'Roastery, Dock 4',
  start: booked.start,
  end: booked.end,
  all_day: false,
  timezone: 'Europe/Berlin',
  when: 'Tuesday, 1 December 2026, 10:00 to 10:30 (Europe/Berlin)',
  recurring: false,
  cancelled: false,
  organizer: 'Tastings',
  org_name: 'Harbour Coffee',
  guest_name: 'Lena Lindgren',
  guest_email: 'lena@cafe-lindgren.example',
  status: 'accepted',
  booking: true,
}
export const uncertain = { ...invitation, status: 'tentative' }

const lines = (...text: readonly string[]) => text.map((line) => `${line}\r\n`).join('')
const vevent = [
  'BEGIN:VEVENT',
  `UID:${ids.event}@kontor`,
  'DTSTAMP:20261121T093000Z',
  'DTSTART:20261201T090000Z',
  'DTEND:20261201T100000Z',
  'SUMMARY:Tasting with Café Lindgren',
  'END:VEVENT',
]
export const file = lines('BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Kontor//Calendar//EN', ...vevent, 'END:VCALENDAR')
export const invitationFile = lines(
  'BEGIN:VCALENDAR',
  'VERSION:2.0',
  'PRODID:-//Kontor//Calendar//EN',
  'METHOD:REQUEST',
  ...vevent,
  'END:VCALENDAR',
)
