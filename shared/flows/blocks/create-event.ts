import { defineBlock, flag, number, text } from '#shared/flows/block.ts'
import { notAvailable } from '#shared/flows/blocks/not-available.ts'
import { t } from '#shared/kernel/schema.ts'

const attendee = t.Object({ user_id: text('A member.'), email: text('Or an address,'), name: text('with a name.') })

export const createEventBlock = defineBlock({
  type: 'action.create_event',
  label: 'Create a calendar event',
  description: 'Puts an event into a calendar and invites its guests.',
  settings: {
    calendar_key: text('Key of the calendar.'),
    title: text('What it is.'),
    description: text('More about it.'),
    location: text('Where.'),
    start: text('An instant, or a date for a whole day.'),
    end: text('When it ends; or:'),
    duration_minutes: number('how long it takes.'),
    all_day: flag('Whether it takes whole days.'),
    attendees: t.Optional(t.Array(attendee, { maxItems: 200, description: 'Who is invited.' })),
    record_type: text('The type of the record that it is about.'),
    record_id: text('The record that it is about.'),
  },
  required: ['calendar_key', 'title', 'start'],
  handles: ['out'],
  output: { id: t.String() },
  shown: 'readers',
  app: 'calendar',
  work: notAvailable,
})
