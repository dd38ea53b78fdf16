import * as examples from '#api/features/forms/examples.ts'
import { byKey } from '#api/http/declaration.ts'
import { ids } from '#api/http/example-ids.ts'
import { withNextLink } from '#api/http/reply/link-header.ts'
import { answer, orgPath } from '#api/http/route.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { changeForm, createForm, getForm, listForms, removeForm } from '#shared/features/forms/forms.ts'
import { form, formInput, formList, submission, submissionPage, submissionQuery } from '#shared/features/forms/schemas.ts'
import { listSubmissions, retrySubmission } from '#shared/features/forms/submissions.ts'
import { linkedQuery } from '#shared/platform/db/lists.ts'

const common = { tag: 'Forms', app: null, permission: 'forms:manage', limit: null } as const
const all = `${orgPath}/forms` as const
const one = `${all}/:formId` as const
const submissionsPath = `${one}/submissions` as const

/** Resolves the form of a route, on whose key the permission is checked. */
const onForm = async ({ params }: { params: { formId: string } }, scope: Scope) => byKey(await getForm(scope, params.formId))

export const routes = [
  answer({
    ...common,
    method: 'GET',
    path: all,
    summary: 'List forms',
    description: 'Oldest first, with their fields and settings.',
    example: { query: { limit: 20 }, answer: [examples.form] },
    perItem: true,
    query: linkedQuery,
    status: 200,
    linked: true,
    response: formList,
    handle: async (request, scope) => withNextLink(request, scope, await listForms(scope, request.query)),
  }),
  answer({
    ...common,
    method: 'POST',
    path: all,
    summary: 'Create a form',
    description:
      "The caller becomes the form's last editor: records are created and the form's function runs with the current rights of that user.",
    example: { body: examples.input, answer: examples.form },
    onBody: async ({ body }) => body.key,
    fails: ['KEY_TAKEN'],
    body: formInput,
    status: 201,
    response: form,
    handle: ({ body }, scope) => createForm(scope, body),
  }),
  answer({
    ...common,
    method: 'GET',
    path: one,
    summary: 'Get a form',
    description: 'With its fields and settings.',
    example: { params: { formId: ids.form }, answer: examples.form },
    on: onForm,
    status: 200,
    response: form,
    handle: async ({ resource }) => resource,
  }),
  answer({
    ...common,
    method: 'PUT',
    path: one,
    summary: 'Replace a form',
    description: "The caller becomes the form's last editor.",
    example: { params: { formId: ids.form }, body: examples.input, answer: examples.form },
    on: onForm,
    fails: ['KEY_TAKEN'],
    body: formInput,
    stored: ({ resource }) => resource,
    status: 200,
    response: form,
    handle: ({ resource, body }, scope) => {
      requirePermission(scope, 'forms:manage', body.key)
      return changeForm(scope, resource.id, body)
    },
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: one,
    summary: 'Delete a form and its submissions',
    description: 'Records created from submissions remain. Its public address answers NOT_FOUND.',
    example: { params: { formId: ids.form } },
    on: onForm,
    status: 204,
    response: null,
    handle: ({ resource }, scope) => removeForm(scope, resource.id),
  }),
  answer({
    ...common,
    method: 'GET',
    path: submissionsPath,
    summary: 'List the submissions of a form, newest first',
    description: 'Each with its record, or the reason why it has none.',
    example: { params: { formId: ids.form }, query: { limit: 20 }, answer: examples.submissions },
    on: onForm,
    query: submissionQuery,
    status: 200,
    response: submissionPage,
    handle: ({ resource, query }, scope) => listSubmissions(scope, resource, query),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${submissionsPath}/:submissionId/retry`,
    summary: 'Retry a failed submission, or accept spam',
    description: 'A worker processes the submission; the route returns it as it was before processing.',
    example: { params: { formId: ids.form, submissionId: ids.submission }, answer: examples.retried },
    on: onForm,
    status: 202,
    response: submission,
    handle: ({ resource, params }, scope) => retrySubmission(scope, resource, params.submissionId),
  }),
]
