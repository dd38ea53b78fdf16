import { instant, schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

const busy = t.Object(
  {
    id: t.String(),
    busy: t.Array(t.Object({ start: instant, end: instant })),
    unknown: t.Boolean({ description: 'True when the id does not exist or the caller cannot see it.' }),
  },
  { title: 'BusyTimes' },
)
/** Busy times of people and calendars. */
export const freeBusy = schema(t.Object({ users: t.Array(busy), calendars: t.Array(busy) }, { title: 'FreeBusy' }))
export type FreeBusy = TypeOf<typeof freeBusy>

export const freeBusyQuery = schema(
  t.Object({
    from: t.String({ description: 'An RFC 3339 instant, or YYYY-MM-DD in the time zone of the workspace.' }),
    to: t.String({ description: 'Written like `from`; a date includes the whole day.' }),
    users: t.Optional(t.String({ description: 'Comma-separated ids.' })),
    calendars: t.Optional(t.String({ description: 'Comma-separated ids.' })),
  }),
)
export type FreeBusyQuery = TypeOf<typeof freeBusyQuery>

const clock = (closing: boolean) =>
  t.String({
    pattern: `^(?:(?:[01]\\d|2[0-3]):[0-5]\\d${closing ? '|24:00' : ''})$`,
    description: `a time as HH:MM${closing ? ', up to 24:00' : ''}`,
  })
const ids = t.Array(t.String(), { maxItems: 100 })

/** The people and calendars that are to be free, the length of the meeting and the window to search. */
export const suggestInput = schema(
  t.Object(
    {
      users: t.Optional(ids),
      calendars: t.Optional(ids),
      from: t.String({ description: 'An RFC 3339 instant, or YYYY-MM-DD in the time zone.' }),
      to: t.String({ description: 'Written like `from`; a date includes the whole day.' }),
      duration: t.Integer({ minimum: 5, maximum: 1_440, description: 'Minutes.' }),
      timezone: t.Optional(t.String({ maxLength: 64, description: "Time zone of the days and hours; default: the workspace's." })),
      day_start: t.Optional(clock(false)),
      day_end: t.Optional(clock(true)),
      limit: t.Optional(t.Integer({ minimum: 1, maximum: 100, description: 'Default: 10.' })),
    },
    { title: 'SuggestInput' },
  ),
)
export type SuggestInput = TypeOf<typeof suggestInput>

/** Suggested times, and the people whose calendars were not considered. */
export const suggestedTimes = schema(
  t.Object(
    {
      slots: t.Array(t.Object({ start: instant, end: instant })),
      unknown: t.Array(t.String(), { description: 'People whose calendars the caller cannot see.' }),
    },
    { title: 'Suggestion' },
  ),
)
export type SuggestedTimes = TypeOf<typeof suggestedTimes>
