import type { EventRow } from '#shared/calendar/event.ts'
import { importResult } from '#shared/calendar/import-result.ts'
import { schema, t } from '#shared/kernel/schema.ts'
import { defineJob, retry } from '#shared/queue/job.ts'

/** An event as a job carries it: it was read from the store, and may be gone from there when the job runs. */
const eventRow = t.Unsafe<EventRow>(t.Object({ id: t.String(), calendar_id: t.String() }))

/** What the guests of an event are told: some are asked to come, some that they need not. */
export const guestMail = schema(
  t.Object({
    method: t.Enum(['REQUEST', 'CANCEL']),
    event: eventRow,
    /** Of a series its changed occurrences; of an occurrence nothing. */
    exceptions: t.Array(eventRow),
    /** `absent` are ids of exceptions that do not take place for a guest. */
    guests: t.Array(t.Object({ id: t.String(), email: t.String(), name: t.String(), absent: t.Optional(t.Array(t.String())) })),
    /** What the first line says: an event that is new to them, or changed. */
    news: t.Enum(['invited', 'changed', 'cancelled', 'booked']),
    /** When the change was made, by which calendar programs order mails of the same SEQUENCE. Jobs of earlier releases lack it. */
    at: t.Optional(t.String()),
  }),
)

/** Mails what changed of an event to those whom it concerns. */
export const mailGuests = defineJob({
  name: 'calendar.mail-guests',
  kind: 'calendar.mail-guests',
  work: 'upkeep',
  app: null,
  pool: 'mail',
  concurrency: 10,
  slotsPerWorkspace: 4,
  retry: retry.transient,
  timeoutSeconds: 120,
  tracked: false,
  payload: guestMail,
  result: schema(t.Null()),
})

/** Imports a file of events into a calendar. */
export const importCalendar = defineJob({
  name: 'calendar.import',
  kind: 'calendar.import',
  work: 'request',
  app: 'calendar',
  pool: 'data',
  concurrency: 2,
  slotsPerWorkspace: 1,
  retry: retry.transient,
  timeoutSeconds: 300,
  tracked: true,
  payload: schema(t.Object({ calendarId: t.String({ format: 'uuid' }), fileId: t.String({ format: 'uuid' }) })),
  result: importResult,
})

/** Writes a calendar as a file, for a caller that exports it or as its subscription link shows it. */
export const exportCalendar = defineJob({
  name: 'calendar.export',
  kind: 'calendar.export',
  work: 'request',
  app: 'calendar',
  pool: 'data',
  concurrency: 4,
  slotsPerWorkspace: 2,
  retry: retry.transient,
  timeoutSeconds: 300,
  tracked: true,
  payload: schema(t.Object({ calendarId: t.String({ format: 'uuid' }), reader: t.Enum(['caller', 'link']) })),
  result: schema(t.Null()),
})

/** Fires the reminders and triggers of a calendar that fell due, and sets when it looks again. */
export const ringCalendar = defineJob({
  name: 'calendar.ring',
  kind: 'calendar.ring',
  work: 'due',
  app: 'calendar',
  pool: 'data',
  concurrency: 10,
  slotsPerWorkspace: 4,
  retry: retry.transient,
  timeoutSeconds: 120,
  tracked: false,
  payload: schema(t.Object({ calendarId: t.String({ format: 'uuid' }), at: t.String() })),
  result: schema(t.Null()),
})
