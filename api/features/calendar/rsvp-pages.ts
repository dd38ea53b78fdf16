import { page } from '#api/http/route.ts'
import { type Field, renderFields } from '#api/pages/fields/field.ts'
import { createFormTokens, formTokenInput } from '#api/pages/fields/form.ts'
import type { Page } from '#api/pages/page.ts'
import { template } from '#api/pages/template.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { guestAnswerInput, type Invitation } from '#shared/features/calendar/booking/schemas.ts'
import { pageAnswers } from '#shared/features/calendar/events/schemas.ts'
import { rsvpFileUrl } from '#shared/features/calendar/guests/guests.ts'
import { answerByToken, viewInvitation } from '#shared/features/calendar/guests/invitation-page.ts'
import { type Problem, problem } from '#shared/platform/kernel/errors.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

const common = {
  tag: 'Pages',
  app: 'calendar',
  permission: 'public',
  limit: 'calendar',
  framed: 'none',
  path: '/rsvp/:orgId/:token',
} as const

interface Shown {
  readonly when: string
  readonly location: string
  readonly organizer: string
  readonly description: string
  readonly cancelled: boolean
  readonly done: string
  readonly formToken: string
  readonly fields: string
  readonly file: string
}
const renderBody = template<Shown>(new URL('rsvp.eta', import.meta.url))

const answerForm = schema(
  t.Object({
    status: t.Enum([...pageAnswers]),
    ...formTokenInput,
  }),
)

const formTokens = createFormTokens('invitation pages')
const subjectOf = ({ workspace }: Scope, token: string): string => `${workspace.id} ${token}`

const choices = [
  { value: 'accepted', label: 'I will come' },
  { value: 'tentative', label: 'Maybe' },
  { value: 'declined', label: 'I will not come' },
]
const bookerChoices = [
  { value: 'accepted', label: 'Keep my booking' },
  { value: 'declined', label: 'Cancel my booking' },
]

function rsvpPage(
  scope: Scope,
  token: string,
  seen: Invitation,
  outcome: { readonly done?: string; readonly failure?: Problem } = {},
): Page {
  const options = seen.booking ? bookerChoices : choices
  const values = options.some(({ value }) => value === seen.status) ? [seen.status] : []
  const error = outcome.failure ? { error: outcome.failure.message } : {}
  const field: Field = { name: 'status', label: 'Your answer', type: 'radio', options, values, required: true, ...error }
  return {
    title: seen.title,
    brand: scope.workspace,
    body: renderBody({
      when: seen.when,
      location: seen.location,
      organizer: seen.organizer,
      description: seen.description,
      cancelled: seen.cancelled,
      done: outcome.done ?? (seen.cancelled ? 'This event does not take place.' : ''),
      formToken: formTokens.make(scope, subjectOf(scope, token)),
      fields: renderFields([field]).text,
      file: rsvpFileUrl(scope, token),
    }),
    ...(outcome.failure ? { failure: outcome.failure } : {}),
  }
}

/** The page of a guest, linked from mails (docs/contract/public.md#invitation-page). Nothing changes before its form is sent. */
export const routes = [
  page({
    ...common,
    method: 'GET',
    summary: 'The page where a guest answers an invitation',
    description: 'Linked from mails. Opening it does not answer the invitation.',
    example: { params: { token: 'example-token-of-the-invitation' }, file: 'Coffee tasting: Lena Lindgren' },
    handle: async ({ params }, scope) => rsvpPage(scope, params.token, await viewInvitation(scope, params.token)),
  }),
  page({
    ...common,
    method: 'POST',
    summary: 'Answer an invitation by its page',
    description: 'Works without scripts. May be sent again with another answer.',
    example: {
      params: { token: 'example-token-of-the-invitation' },
      body: { form_token: 'example-form-token', status: 'accepted' },
      file: 'Coffee tasting: Lena Lindgren',
    },
    form: answerForm,
    handle: async ({ params, body: fields }, scope) => {
      const { token } = params
      const seen = await viewInvitation(scope, token)
      const failure = refusalOf(scope, token, fields)
      if (failure) return rsvpPage(scope, token, seen, { failure })
      const { status } = guestAnswerInput.parse({ status: fields.get('status') })
      const after = await answerByToken(scope, token, status)
      const done = after.cancelled
        ? after.booking
          ? 'Your booking is cancelled.'
          : 'This event does not take place.'
        : 'Thank you. Your answer has been sent.'
      return rsvpPage(scope, token, after, { done })
    },
  }),
]

function refusalOf(scope: Scope, token: string, fields: URLSearchParams): Problem | undefined {
  if (!formTokens.isIn(fields, scope, subjectOf(scope, token))) {
    return problem('VALIDATION_ERROR', 'The form was not sent from this page. Please try again.')
  }
  return choices.some(({ value }) => value === fields.get('status')) ? undefined : problem('VALIDATION_ERROR', 'Choose an answer.')
}
