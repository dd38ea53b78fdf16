import { autofillOf } from '#api/features/forms/autofill.ts'
import type { Field } from '#api/pages/fields/field.ts'
import type { Workspace } from '#shared/core/scope/workspace.ts'
import type { Form, FormField } from '#shared/features/forms/schemas.ts'
import { wallClockToUtc } from '#shared/platform/kernel/time/wall-clock.ts'

type Control = Pick<Field, 'type'> & Pick<Partial<Field>, 'hint' | 'attributes'>

/** The control of each field type. */
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

/** The controls of a form's page, with the values that were filled in. */
export const formControlsOf = ({ fields }: Form, workspace: Workspace, sent?: URLSearchParams): Field[] =>
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

/** Reads the fields that a page sent into the values that the API route of a form takes. */
export const readControls = ({ fields }: Form, sent: URLSearchParams, timezone: string): Record<string, unknown> =>
  Object.fromEntries(fields.map((field) => [field.key, answerIn(field, sent, timezone)]))

function answerIn({ key, type, required }: FormField, sent: URLSearchParams, timezone: string): unknown {
  if (type === 'multiselect') return sent.getAll(key)
  const text = sent.get(key) ?? ''
  // Browsers send nothing for an unticked box. If a tick is required, that counts as no answer.
  if (type === 'bool') return text === 'true' ? true : required ? null : false
  if (type === 'datetime') return wallClockToUtc(text, timezone) ?? text
  // Browsers send CRLF line breaks.
  return type === 'text' ? text.replaceAll('\r\n', '\n') : text.trim()
}
