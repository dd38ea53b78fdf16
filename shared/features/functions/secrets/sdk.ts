import { defineSdkQuery, restrictToApp } from '#shared/core/automation/sdk-method.ts'
import { readSecret } from '#shared/features/functions/secrets/secrets.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** SDK method to read a secret of the workspace; the run's logs and result show [secret] in its place. */
export const secretMethods = restrictToApp('functions', [
  defineSdkQuery('secrets.get', '(name: string): Promise<string>', [['name', schema(t.String())]], async ({ scope, conceal }, name) => {
    const value = await readSecret(scope, name)
    conceal(value)
    return value
  }),
])
