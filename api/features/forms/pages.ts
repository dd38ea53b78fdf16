import { byKey } from '#api/http/declaration.ts'
import { maxBodyBytes } from '#api/http/request/body.ts'
import { page } from '#api/http/route.ts'
import { type Field, renderFieldPieces, withErrors } from '#api/pages/fields/field.ts'
import { attemptField, readAttempt } from '#api/pages/fields/form.ts'
import { markdown } from '#api/pages/markdown.ts'
import type { Page } from '#api/pages/page.ts'
import { keepPart, makePart } from '#api/pages/page-parts.ts'
import { safeHttpUrl, template } from '#api/pages/template.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { Workspace } from '#shared/core/scope/store.ts'
import { readAnswers } from '#shared/features/forms/answers.ts'
import { requireOpenForm } from '#shared/features/forms/forms.ts'
import type { Form, FormField } from '#shared/features/forms/schemas.ts'
import { findFirstThanks, submitForm } from '#shared/features/forms/submit-form.ts'
import type { Problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { wallClockToUtc } from '#shared/platform/kernel/time/wall-clock.ts'

const common = { path: '/f/:orgId/:formKey', tag: 'Pages', app: null, permission: 'public', framed: 'any' } as const

interface Shown {
  readonly description: string
  readonly id: string
  readonly wrong: readonly { readonly key: string; readonly label: string }[]
  readonly fields: string
  readonly submit: string
}

const renderForm = template<Shown>(new URL('form.eta', import.meta.url))
const renderDone = template<{ readonly message: string; readonly redirect: string | undefined }>(new URL('form-done.eta', import.meta.url))

/** A hidden field that only programs fill in. Field keys of forms contain no hyphen, so no form has a field of this name. */
const trapField = 'company-website'

/** The page as a visitor opens it. Its controls are the same for all visitors, so they are made once. */
async function openedPage({ db, workspace }: Scope, form: Form): Promise<Page> {
  const controls = await keepPart(db.owner, form, workspace, () => renderFieldPieces(formControlsOf(form, workspace)))
  return { title: form.name, brand: workspace, body: renderForm(shownOf(form, controls.mark, newId(), [])), part: controls }
}

/** The page with what a visitor sent, and the problems beside the fields. */
async function refusedPage(
  scope: Scope,
  form: Form,
  sent: { readonly fields: URLSearchParams; readonly problems: ReadonlyMap<string, Problem> },
): Promise<Page> {
  const controls = formControlsOf(form, scope.workspace, sent.fields)
  const errors = Object.fromEntries([...sent.problems].map(([key, { message }]) => [key, errorText(form, key, message)]))
  const wrong = controls.filter(({ name }) => Object.hasOwn(errors, name)).map(({ name, label }) => ({ key: name, label }))
  const [failure] = sent.problems.values()
  const part = await makePart(scope.db.owner, renderFieldPieces(withErrors(controls, errors)))
  const shown = shownOf(form, part.mark, sent.fields.get(attemptField) || newId(), wrong)
  return { title: form.name, brand: scope.workspace, body: renderForm(shown), part, ...(failure ? { failure } : {}) }
}

const shownOf = (form: Form, fields: string, id: string, wrong: Shown['wrong']): Shown => ({
  description: markdown(form.description).text,
  id,
  wrong,
  fields,
  submit: form.settings.submit_label || 'Send',
})

/** The text of a problem beside its field: `values.email must be a valid email, got "x"` becomes `Must be a valid email`. */
function errorText({ fields }: Form, key: string, message: string): string {
  const { type = '' } = fields.find((field) => field.key === key) ?? {}
  const rest = message.replace(`values.${key}`, '').trim()
  if (rest === 'is required') return missing[type] ?? 'Please fill this in'
  const rule = rest.replace(/^\[\d+\] /, '').replace(/, got .*$/s, '')
  return rule.charAt(0).toUpperCase() + rule.slice(1)
}

const missing: Readonly<Record<string, string>> = {
  bool: 'Please tick this box',
  select: 'Please choose one',
  multiselect: 'Please choose at least one',
}

/** The hosted page of a form (docs/contract/public.md#form-page). */
export const routes = [
  page({
    ...common,
    method: 'GET',
    summary: 'Show the page of a published form',
    description: "The visitor needs forms:read on the form's key.",
    example: { params: { formKey: 'newsletter' }, file: 'Newsletter' },
    limit: 'content',
    handle: async ({ params }, scope) => openedPage(scope, await requireOpenForm(scope, params.formKey, 'forms:read')),
  }),
  page({
    ...common,
    method: 'POST',
    summary: 'Submit a form by its page',
    description: "The visitor needs forms:submit on the form's key. The fields are those of the form.",
    example: { params: { formKey: 'newsletter' }, body: { email: 'lena@cafe-lindgren.example' }, file: 'Newsletter' },
    limit: 'forms',
    form: null,
    maxBodyBytes,
    on: async ({ params }, scope) => byKey(await requireOpenForm(scope, params.formKey, 'forms:submit')),
    handle: async ({ resource: form, body: fields }, scope) => {
      const { values, problems } = readAnswers(form, readControls(form, fields, scope.workspace.timezone), scope.workspace.default_currency)
      const key = readAttempt(fields)
      const isRefused = problems.size > 0
      const first = isRefused && key !== undefined ? await findFirstThanks(scope, form, key) : undefined
      if (isRefused && !first) return refusedPage(scope, form, { fields, problems })
      const spam = fields.get(trapField) ? 'hidden field filled in' : null
      const { message, redirect } = first ?? (await submitForm(scope, form, values, { key, isExact: false, spam }))
      const url = safeHttpUrl(redirect)
      return { title: form.name, brand: scope.workspace, body: renderDone({ message, redirect: url }), ...(url ? { leadsTo: url } : {}) }
    },
  }),
]

type Control = Pick<Field, 'type'> & Pick<Partial<Field>, 'hint' | 'attributes'>

/** The control of each field type. */
const controlByType: Readonly<Record<string, (workspace: Workspace) => Control>> = {
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
const formControlsOf = ({ fields }: Form, workspace: Workspace, sent?: URLSearchParams): Field[] =>
  fields.map(({ key, label, type, required, options = [] }) => {
    const control = controlByType[type]?.(workspace) ?? { type: 'text' }
    const autocomplete = autofillOf({ type, key })
    return {
      ...control,
      ...(autocomplete === 'tel' ? { type: 'tel' } : {}),
      name: key,
      label,
      required,
      values: sent?.getAll(key) ?? [''],
      options: options.map((value) => ({ value, label: value })),
      attributes: { ...control.attributes, ...(autocomplete ? { autocomplete } : {}) },
    }
  })

/** Reads the fields that a page sent into the values that the API route of a form takes. */
const readControls = ({ fields }: Form, sent: URLSearchParams, timezone: string): Record<string, unknown> =>
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

/** Common keys of fields about the visitor, by the autofill token that fits them (HTML standard, Autofill; WCAG 2.2, 1.3.5). */
const keysByToken: Readonly<Record<string, readonly string[]>> = {
  name: ['name', 'full_name', 'your_name', 'contact_name'],
  'given-name': ['first_name', 'given_name', 'firstname'],
  'family-name': ['last_name', 'family_name', 'surname', 'lastname'],
  organization: ['company', 'organization', 'organisation', 'company_name'],
  'organization-title': ['job_title'],
  tel: ['phone', 'telephone', 'mobile', 'phone_number', 'tel'],
  'address-line1': ['address', 'street', 'street_address', 'address_line1'],
  'address-line2': ['address_line2'],
  'address-level2': ['city', 'town'],
  'address-level1': ['state', 'region', 'province'],
  'postal-code': ['zip', 'zip_code', 'postal_code', 'postcode'],
  'country-name': ['country'],
}

const tokenByKey = new Map(Object.entries(keysByToken).flatMap(([token, keys]) => keys.map((key) => [key, token] as const)))

const tokenOfType: Readonly<Record<string, (key: string) => string | undefined>> = {
  string: (key) => tokenByKey.get(key),
  text: (key) => (tokenByKey.get(key) === 'address-line1' ? 'street-address' : undefined),
  date: (key) => (/^(?:birthday|birth_date|date_of_birth)$/.test(key) ? 'bday' : undefined),
  email: () => 'email',
  url: () => 'url',
}

/** The autocomplete token of a field; undefined when none fits. */
const autofillOf = ({ type, key }: Pick<FormField, 'type' | 'key'>): string | undefined => tokenOfType[type]?.(key)
