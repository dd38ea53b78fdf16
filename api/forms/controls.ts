import { autofillOf } from '#api/forms/autofill.ts'
import type { Field } from '#api/pages/field.ts'
import type { Form, FormField } from '#shared/forms/form.ts'
import { utcOfWallClock } from '#shared/kernel/wall-clock.ts'
import type { Workspace } from '#shared/scope/workspace.ts'

type Control = Pick<Field, 'type'> & Pick<Partial<Field>, 'hint' | 'attributes'>

/** The control of each kind of field. */
const controls: Readonly<Record<string, (workspace: Workspace) => Control>> = {
  string: () => ({ type: 'text', attributes: { maxlength: 500 } }),
  text: () => ({ type: 'textarea', attributes: { maxlength: 100_000, rows: 5 } }),
  number: () => ({ type: 'text', attributes: { inputmode: 'decimal', autocomplete: 'off' } }),
  currency: ({ default_currency }) => ({
    type: 'text',
    hint: `In ${default_currency}`,
    attributes: { inputmode: 'decimal', autocomplete: 'off' },
  }),
  bool: () => ({ type: 'checkbox' }),
  date: () => ({ type: 'date' }),
  datetime: ({ timezone }) => ({ type: 'datetime-local', hint: `Time in ${timezone}`, attributes: { step: 60 } }),
  select: () => ({ type: 'select' }),
  multiselect: () => ({ type: 'checkboxes' }),
  email: () => ({ type: 'email' }),
  url: () => ({ type: 'url', hint: 'Begins with https:// or http://' }),
}

/** The controls of a form's page, with what was filled in. */
export const controlsOf = ({ fields }: Form, workspace: Workspace, sent?: URLSearchParams): Field[] =>
  fields.map(({ key, label, type, required, options = [] }) => {
    const control = controls[type]?.(workspace) ?? { type: 'text' }
    const autocomplete = autofillOf({ type, key })
    return {
      ...control,
      ...(autocomplete === 'tel' ? { type: 'tel' } : {}),
      ...{ name: key, label, required, values: sent?.getAll(key) ?? [''] },
      options: options.map((value) => ({ value, label: value })),
      attributes: { ...control.attributes, ...(autocomplete ? { autocomplete } : {}) },
    }
  })

/** What the controls of a page sent, as a form's own route takes it. */
export const sentBy = ({ fields }: Form, sent: URLSearchParams, timezone: string): Record<string, unknown> =>
  Object.fromEntries(fields.map((field) => [field.key, answerIn(field, sent, timezone)]))

function answerIn({ key, type, required }: FormField, sent: URLSearchParams, timezone: string): unknown {
  if (type === 'multiselect') return sent.getAll(key)
  const text = sent.get(key) ?? ''
  // Browsers send nothing for a box without its tick: where one is required, that is no answer.
  if (type === 'bool') return text === 'true' ? true : required ? null : false
  if (type === 'datetime') return utcOfWallClock(text, timezone) ?? text
  // Browsers end the lines of a text as those of a mail.
  return type === 'text' ? text.replaceAll('\r\n', '\n') : text.trim()
}
