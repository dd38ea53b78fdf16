import { linked } from '#api/http/linked.ts'
import { answer, org } from '#api/http/route.ts'
import { linkedQuery } from '#shared/db/lists.ts'
import { form, formInput, formList } from '#shared/forms/form.ts'
import { changeForm, createForm, getForm, listForms, removeForm } from '#shared/forms/forms.ts'
import { submission, submissionPage, submissionQuery } from '#shared/forms/submission.ts'
import { listSubmissions, retry } from '#shared/forms/submissions.ts'
import { requirePermission } from '#shared/scope/access.ts'
import type { Scope } from '#shared/scope/scope.ts'

const common = { tag: 'Forms', app: null, permission: 'forms:manage', limit: null } as const
const all = `${org}/forms` as const
const one = `${all}/:formId` as const
const sent = `${one}/submissions` as const

/** The permission is asked for the key of the form. */
const onForm = async ({ params }: { params: { formId: string } }, scope: Scope) => (await getForm(scope, params.formId)).key

export const routes = [
  answer({
    ...common,
    method: 'GET',
    path: all,
    summary: 'List forms',
    description: 'Oldest first, with their fields and settings.',
    perItem: true,
    query: linkedQuery,
    status: 200,
    linked: true,
    response: formList,
    handle: async (request, scope) => linked(request, scope, await listForms(scope, request.query)),
  }),
  answer({
    ...common,
    method: 'POST',
    path: all,
    summary: 'Create a form',
    description: 'The caller is its last editor: records are written and its function runs with the rights that this one has then.',
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
    on: onForm,
    status: 200,
    response: form,
    handle: ({ params }, scope) => getForm(scope, params.formId),
  }),
  answer({
    ...common,
    method: 'PUT',
    path: one,
    summary: 'Replace a form',
    description: 'The caller is its last editor then.',
    on: onForm,
    fails: ['KEY_TAKEN'],
    body: formInput,
    stored: ({ params }, scope) => getForm(scope, params.formId),
    status: 200,
    response: form,
    handle: ({ params, body }, scope) => {
      requirePermission(scope, 'forms:manage', body.key)
      return changeForm(scope, params.formId, body)
    },
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: one,
    summary: 'Delete a form and what was sent by it',
    description: 'Records that it wrote stay. Its public address is NOT_FOUND.',
    on: onForm,
    status: 204,
    response: null,
    handle: ({ params }, scope) => removeForm(scope, params.formId),
  }),
  answer({
    ...common,
    method: 'GET',
    path: sent,
    summary: 'List what was sent by a form, newest first',
    description: 'With what became of each: its record, or why there is none.',
    on: onForm,
    query: submissionQuery,
    status: 200,
    response: submissionPage,
    handle: async ({ params, query }, scope) => listSubmissions(scope, await getForm(scope, params.formId), query),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${sent}/:submissionId/retry`,
    summary: 'Have what failed of a submission done again, or let spam through',
    description: 'A worker does it; the answer is the submission as it waits for that.',
    on: onForm,
    status: 202,
    response: submission,
    handle: async ({ params }, scope) => retry(scope, await getForm(scope, params.formId), params.submissionId),
  }),
]
