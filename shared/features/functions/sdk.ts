import { createHmac, randomUUID } from 'node:crypto'
import { defineSdkMethod, defineSdkQuery, restrictToApp, type SdkMethod } from '#shared/core/automation/sdk-method.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import { requireEnabledFunction, requireFunction } from '#shared/features/functions/definitions/functions.ts'
import { readSecret } from '#shared/features/functions/secrets/secrets.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

const algorithm = schema(t.Enum(['sha1', 'sha256', 'sha384', 'sha512']))
const text = schema(t.String())

/** SDK methods that invoke functions and read secrets, and those for random ids and HMAC signatures, which need no app. */
export const functionMethods: readonly SdkMethod[] = [
  ...restrictToApp('functions', [
    // Runs with the rights of the invoking run.
    defineSdkMethod(
      'functions.invoke',
      '(id: string, input?: unknown): Promise<Invocation>',
      [
        ['id', text],
        ['input', schema(t.Unknown())],
      ],
      async ({ scope, invoke }, id, input) => {
        const known = await requireFunction(scope, id)
        requirePermission(scope, 'functions:invoke', known.id)
        await requireEnabledFunction(scope, id)
        return invoke(known.id, input ?? null)
      },
    ),
    // The run's logs and result show [secret] in place of the value. A source that hides a secret in other words is not seen through, so
    // that only sources of authors who may replace every secret read one, as the routes of secrets demand.
    defineSdkQuery('secrets.get', '(name: string): Promise<string>', [['name', text]], async ({ scope, authorId, conceal }, name) => {
      const value = await readSecret(scope, name, authorId)
      conceal(value)
      return value
    }),
  ]),
  defineSdkMethod('crypto.uuid', '(): Promise<string>', [], async () => randomUUID()),
  defineSdkMethod(
    'crypto.hmac',
    `(algorithm: 'sha1' | 'sha256' | 'sha384' | 'sha512', key: string, text: string): Promise<string>`,
    [
      ['algorithm', algorithm],
      ['key', text],
      ['text', text],
    ],
    async (_context, algorithm, key, text) => createHmac(algorithm, key).update(text).digest('hex'),
  ),
]
