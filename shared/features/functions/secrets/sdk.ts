import { defineSdkQuery, restrictToApp } from '#shared/core/automation/sdk-method.ts'
import { readSecret } from '#shared/features/functions/secrets/secrets.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** Secrets of the workspace: a run that reads one does not show it in what it prints and gives back. */
export const secretMethods = restrictToApp('functions', [
  defineSdkQuery('secrets.get', '(name: string): Promise<string>', [['name', schema(t.String())]], async ({ scope, conceal }, name) => {
    const value = await readSecret(scope, name)
    conceal(value)
    return value
  }),
])
