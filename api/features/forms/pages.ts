import { formControlsOf, readControls } from '#api/features/forms/controls.ts'
import { byKey } from '#api/http/declaration.ts'
import { page } from '#api/http/route.ts'
import { renderFields, withErrors } from '#api/pages/fields/field.ts'
import { attemptField, readAttempt } from '#api/pages/fields/form.ts'
import { markdown } from '#api/pages/markdown.ts'
import type { Page } from '#api/pages/page.ts'
import { safeHttpUrl, template } from '#api/pages/template.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { readAnswers } from '#shared/features/forms/answers.ts'
import { requireOpenForm } from '#shared/features/forms/forms.ts'
import type { Form } from '#shared/features/forms/schemas.ts'
import { submitForm } from '#shared/features/forms/submit-form.ts'
import type { Problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

const common = { path: '/f/:orgId/:formKey', tag: 'Pages', app: null, permission: 'public', framed: 'any' } as const

interface Shown {
  readonly description: string
  readonly id: string
  readonly wrong: readonly { readonly key: string; readonly label: string }[]
  readonly fields: string
  readonly submit: string
}

const body = template<Shown>(new URL('form.eta', import.meta.url))
const done = template<{ readonly message: string; readonly redirect: string | undefined }>(new URL('form-done.eta', import.meta.url))

/** A hidden field that only programs fill in. Field keys of forms contain no hyphen, so it cannot collide. */
const trapField = 'company-website'

function formPage(
  scope: Scope,
  form: Form,
  sent?: { readonly fields: URLSearchParams; readonly problems: ReadonlyMap<string, Problem> },
): Page {
  const controls = formControlsOf(form, scope.workspace, sent?.fields)
  const errors = Object.fromEntries([...(sent?.problems ?? [])].map(([key, { message }]) => [key, errorText(form, key, message)]))
  const wrong = controls.filter(({ name }) => Object.hasOwn(errors, name)).map(({ name, label }) => ({ key: name, label }))
  const [failure] = sent?.problems.values() ?? []
  const shown = {
    description: markdown(form.description).text,
    id: sent?.fields.get(attemptField) || newId(),
    wrong,
    fields: renderFields(withErrors(controls, errors)).text,
    submit: form.settings.submit_label || 'Send',
  }
  return { title: form.name, brand: scope.workspace, body: body(shown), ...(failure ? { failure } : {}) }
}

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

/** The hosted page of a form (document 3, Public endpoints; decisions, Hosted pages). */
export const routes = [
  page({
    ...common,
    method: 'GET',
    summary: 'The page of a published form',
    description: 'The visitor needs forms:read on its key.',
    limit: null,
    handle: async ({ params }, scope) => formPage(scope, await requireOpenForm(scope, params.formKey, 'forms:read')),
  }),
  page({
    ...common,
    method: 'POST',
    summary: 'Submit a form by its page',
    description: 'The visitor needs forms:submit on its key. The fields are those of the form.',
    limit: 'forms',
    form: null,
    on: async ({ params }, scope) => byKey(await requireOpenForm(scope, params.formKey, 'forms:submit')),
    handle: async ({ resource: form, body: fields }, scope) => {
      const { values, problems } = readAnswers(form, readControls(form, fields, scope.workspace.timezone), scope.workspace.default_currency)
      if (problems.size > 0) return formPage(scope, form, { fields, problems })
      const spam = fields.get(trapField) ? 'hidden field filled in' : null
      const attempt = { key: readAttempt(fields), isExact: false, spam }
      const { message, redirect } = await submitForm(scope, form, values, attempt)
      const url = safeHttpUrl(redirect)
      return { title: form.name, brand: scope.workspace, body: done({ message, redirect: url }), ...(url ? { leadsTo: url } : {}) }
    },
  }),
]
