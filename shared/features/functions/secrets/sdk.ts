import { defineSdkQuery, restrictToApp } from '#shared/core/automation/sdk-method.ts'
import { readSecret } from '#shared/features/functions/secrets/secrets.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/**
 * SDK method to read a secret of the workspace; the run's logs and result show [secret] in its place. A source that hides a secret in other
 * words is not seen through, so that only sources of authors who may replace every secret read one, as the routes of secrets demand.
 */
export const secretMethods = restrictToApp('functions', [
  defineSdkQuery(
    'secrets.get',
    '(name: string): Promise<string>',
    [['name', schema(t.String())]],
    async ({ scope, authorId, conceal }, name) => {
      const value = await readSecret(scope, name, authorId)
      conceal(value)
      return value
    },
  ),
])
