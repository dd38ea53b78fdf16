import * as examples from '#api/features/forms/examples.ts'
import { byKey } from '#api/http/declaration.ts'
import { Reply } from '#api/http/reply/reply.ts'
import { maxBodyBytes } from '#api/http/request/body.ts'
import { answer } from '#api/http/route.ts'
import { keepPart } from '#api/pages/page-parts.ts'
import { requireAnswers } from '#shared/features/forms/answers.ts'
import { definitionOf, requireOpenForm } from '#shared/features/forms/forms.ts'
import { answersInput, formDefinition, thanks } from '#shared/features/forms/schemas.ts'
import { submitForm } from '#shared/features/forms/submit-form.ts'

const common = {
  path: '/forms/:orgId/:formKey',
  tag: 'Public forms',
  app: null,
  permission: 'public',
  origins: 'own',
} as const

export const routes = [
  answer({
    ...common,
    method: 'GET',
    summary: 'Get a published form',
    description: "The visitor needs forms:read on the form's key.",
    example: { params: { formKey: 'newsletter' }, answer: examples.definition },
    limit: 'content',
    status: 200,
    response: formDefinition,
    handle: async ({ params }, scope) => {
      const form = await requireOpenForm(scope, params.formKey, 'forms:read')
      const kept = await keepPart(scope.db.owner, form.fields, form, () => [JSON.stringify({ data: definitionOf(form) })])
      const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'public, max-age=60' }
      return new Reply(kept.bytes, headers, 200, true)
    },
  }),
  answer({
    ...common,
    method: 'POST',
    summary: 'Submit a published form',
    description:
      "The visitor needs forms:submit on the form's key. The submission is stored even if its processing fails later. Attempts with the " +
      'same Idempotency-Key are stored once.',
    example: {
      params: { formKey: 'newsletter' },
      body: { values: { email: 'lena@cafe-lindgren.example' } },
      answer: { ok: true, message: 'Thank you.', redirect: '' },
    },
    limit: 'forms',
    on: async ({ params }, scope) => byKey(await requireOpenForm(scope, params.formKey, 'forms:submit')),
    handlesVisitorKeys: true,
    body: answersInput,
    maxBodyBytes,
    status: 201,
    response: thanks,
    handle: ({ resource: form, body, idempotencyKey }, scope) => {
      const values = requireAnswers(form, body.values, scope.workspace.default_currency)
      return submitForm(scope, form, values, { key: idempotencyKey(), isExact: true, spam: null })
    },
  }),
]
