import type { EventRow } from '#shared/features/calendar/events/store.ts'
import { importResult } from '#shared/features/calendar/import-export/schemas.ts'
import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { schema, t, uuid } from '#shared/platform/kernel/schema.ts'

/** An event row in a job's payload. The payload holds the whole row because the event may be deleted before the job runs. */
const eventRow = t.Unsafe<EventRow>(t.Object({ id: t.String(), calendar_id: t.String() }))

/** Payload of `mailGuestsJob`: invitations (REQUEST) or cancellations (CANCEL) of one event. */
export const guestMailPayload = schema(
  t.Object({
    method: t.Enum(['REQUEST', 'CANCEL']),
    event: eventRow,
    /** Changed occurrences of a series; empty for a single occurrence. */
    exceptions: t.Array(eventRow),
    /** `absent` holds ids of exceptions that do not take place for the guest. */
    guests: t.Array(t.Object({ id: t.String(), email: t.String(), name: t.String(), absent: t.Optional(t.Array(t.String())) })),
    /** Selects the subject and the first sentence of the mail. */
    reason: t.Enum(['invited', 'changed', 'cancelled', 'booked']),
    /** When the change was made. Calendar programs order mails of equal SEQUENCE by it. Jobs of earlier releases lack it. */
    at: t.Optional(t.String()),
  }),
)

/** Jobs without a waiting caller. */
const backgroundJob = {
  concurrency: 10,
  slotsPerWorkspace: 4,
  retry: retryPolicies.transient,
  timeoutSeconds: 120,
  tracked: false,
  result: schema(t.Null()),
} as const

/** Jobs that read or write a whole file for a caller. */
const fileJob = {
  work: 'request',
  app: 'calendar',
  pool: 'data',
  retry: retryPolicies.transient,
  timeoutSeconds: 300,
  tracked: true,
} as const

/** Mails a change of an event to the guests that it concerns. */
export const mailGuestsJob = defineJob({
  ...backgroundJob,
  name: 'calendar.mail-guests',
  visible: ['method', 'reason'],
  work: 'upkeep',
  app: null,
  pool: 'mail',
  payload: guestMailPayload,
})

/** Imports an .ics file into a calendar. */
export const importCalendarJob = defineJob({
  ...fileJob,
  name: 'calendar.import',
  causes: 'import',
  visible: ['calendarId', 'fileId'],
  concurrency: 2,
  slotsPerWorkspace: 1,
  payload: schema(t.Object({ calendarId: uuid, fileId: uuid })),
  result: importResult,
})

/** Writes a calendar as an .ics file: for the caller who exports it, or for the subscription link. */
export const exportCalendarJob = defineJob({
  ...fileJob,
  name: 'calendar.export',
  visible: ['calendarId', 'reader'],
  concurrency: 4,
  slotsPerWorkspace: 2,
  payload: schema(t.Object({ calendarId: uuid, reader: t.Enum(['caller', 'link']) })),
  result: schema(t.Null()),
})

/** Fires the due reminders and triggers of a calendar and schedules the next check. */
export const fireRemindersJob = defineJob({
  ...backgroundJob,
  name: 'calendar.remind',
  visible: ['calendarId', 'at'],
  cancel: 'refused',
  work: 'due',
  app: 'calendar',
  pool: 'data',
  payload: schema(t.Object({ calendarId: uuid, at: t.String() })),
})
