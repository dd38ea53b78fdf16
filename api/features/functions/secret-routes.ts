import * as examples from '#api/features/functions/examples.ts'
import { answer, orgPath } from '#api/http/route.ts'
import { secretInput, secretView } from '#shared/features/functions/secrets/schemas.ts'
import { listSecrets, removeSecret, saveSecret } from '#shared/features/functions/secrets/secrets.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

const common = { tag: 'Functions', app: 'functions', limit: null, permission: 'functions:create' } as const
const all = `${orgPath}/functions/secrets` as const
const one = `${all}/:name` as const

/** Routes of secrets; only functions can read their values. */
export const routes = [
  answer({
    ...common,
    method: 'GET',
    path: all,
    summary: 'List the names of secrets',
    description: 'Values are never returned.',
    example: { answer: [examples.secret] },
    status: 200,
    response: schema(t.Array(secretView.json)),
    handle: (_request, scope) => listSecrets(scope),
  }),
  answer({
    ...common,
    method: 'PUT',
    path: one,
    summary: 'Store a secret for functions',
    description:
      'The value is stored encrypted and never returned; a run that reads the secret shows [secret] instead of the value. Only sources of authors who hold functions:create on every function can read it.',
    example: { params: { name: 'SHOP_PASSWORD' }, body: { value: 'example password' }, answer: examples.secret },
    body: secretInput,
    stored: async ({ params }, scope) => (await listSecrets(scope)).find(({ name }) => name === params.name),
    status: 200,
    response: secretView,
    handle: ({ params, body }, scope) => saveSecret(scope, params.name, body.value),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: one,
    summary: 'Delete a secret',
    description: 'Functions that read the secret fail afterwards.',
    example: { params: { name: 'SHOP_PASSWORD' } },
    status: 204,
    response: null,
    handle: ({ params }, scope) => removeSecret(scope, params.name),
  }),
]
