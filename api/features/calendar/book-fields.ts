import { timeOptions } from '#api/features/calendar/book-month.ts'
import type { Field } from '#api/pages/fields/field.ts'
import { personFields } from '#api/pages/fields/person-fields.ts'
import { dayInWords } from '#shared/features/calendar/time-in-words.ts'

// The list of ICU does not contain UTC.
const zones = [...Intl.supportedValuesOf('timeZone'), 'UTC']
const optionOf = (zone: string) => ({ value: zone, label: zone.replaceAll('_', ' ') })
const zoneOptions = zones.map(optionOf)

/** The zone control: all zones, and those in use that have an older name. */
export const zoneField = (zone: string, calendarZone: string): Field => ({
  name: 'tz',
  label: 'Time zone',
  type: 'select',
  required: true,
  values: [zone],
  options: [...[...new Set([zone, calendarZone])].filter((one) => !zones.includes(one)).map(optionOf), ...zoneOptions],
})

/** The control that offers other times when the chosen one cannot be booked. The options are grouped under the day of the first slot. */
export function timeField(slots: readonly number[], zone: string): Field {
  const group = slots[0] === undefined ? '' : dayInWords(slots[0], zone)
  const options = timeOptions(slots, zone).map((option) => ({ ...option, group }))
  return { name: 'start', label: 'Time', type: 'radio', required: true, options }
}

/** The controls that a visitor fills in to book. */
export function bookerFields(sent: URLSearchParams | undefined): Field[] {
  const sentText = (name: string) => sent?.get(name) ?? ''
  return [
    ...personFields(sentText('name'), sentText('email'), { required: true }),
    { name: 'notes', label: 'Notes', type: 'textarea', values: [sentText('notes')], attributes: { maxlength: 5_000, rows: 3 } },
  ]
}
