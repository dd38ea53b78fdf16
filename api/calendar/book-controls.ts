import type { Field } from '#api/pages/field.ts'
import { instantText } from '#shared/calendar/time.ts'
import { clockWords, dayWords, offsetWords } from '#shared/calendar/words.ts'

/** What a visitor may choose before the times are shown, and what was chosen. */
export interface Chosen {
  /** The first day that is shown. */
  readonly from: string
  readonly minutes: number
  readonly zone: string
}

/** The choice of days, length and time zone. */
export function chooserOf({ from, minutes, zone }: Chosen, durations: readonly number[]): Field[] {
  const length: Field = {
    name: 'duration',
    label: 'Length',
    type: 'select',
    required: true,
    values: [String(minutes)],
    options: durations.map((one) => ({ value: String(one), label: `${one} minutes` })),
  }
  return [
    { name: 'from', label: 'From', type: 'date', required: true, values: [from] },
    ...(durations.length > 1 ? [length] : []),
    { name: 'tz', label: 'Time zone', type: 'select', required: true, values: [zone], options: zonesWith(zone) },
  ]
}

const zones = Intl.supportedValuesOf('timeZone')
const optionOf = (zone: string) => ({ value: zone, label: zone.replaceAll('_', ' ') })
const zoneOptions = zones.map(optionOf)

/** Every zone, and one by an older name that is shown now. */
const zonesWith = (zone: string) => (zones.includes(zone) ? zoneOptions : [optionOf(zone), ...zoneOptions])

/** What a visitor fills in to book one of these times. */
export function bookControls(slots: readonly number[], { minutes, zone }: Chosen, sent?: URLSearchParams): Field[] {
  const held = (name: string) => [sent?.get(name) ?? '']
  return [
    {
      name: 'start',
      label: 'Time',
      type: 'radio',
      required: true,
      hint: `${minutes} minutes each, by the clock of ${zone.replaceAll('_', ' ')}`,
      values: held('start'),
      options: timeOptions(slots, zone),
    },
    person('name', 'Your name', 'text', { autocomplete: 'name', maxlength: 200 }, held('name')),
    person('email', 'Your email', 'email', { autocomplete: 'email', maxlength: 320 }, held('email')),
    { name: 'notes', label: 'Notes', type: 'textarea', values: held('notes'), attributes: { maxlength: 5_000 } },
  ]
}

function timeOptions(slots: readonly number[], zone: string) {
  const read = slots.map((at) => ({ at, group: dayWords(at, zone), label: clockWords(at, zone) }))
  const alike = Map.groupBy(read, ({ group, label }) => `${group} ${label}`)
  return read.map(({ at, group, label }) => {
    const isTwice = (alike.get(`${group} ${label}`)?.length ?? 0) > 1
    return { value: instantText(at), group, label: isTwice ? offsetWords(at, zone) : label }
  })
}

const person = (name: string, label: string, type: Field['type'], attributes: Field['attributes'], values: readonly string[]): Field => ({
  ...{ name, label, type, required: true, values },
  ...(attributes ? { attributes } : {}),
})
