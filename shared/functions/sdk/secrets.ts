import { ofApp, sdkQuery } from '#shared/functions/sdk/method.ts'
import { readSecret } from '#shared/functions/secrets.ts'
import { schema, t } from '#shared/kernel/schema.ts'

/** Secrets of the workspace: a run that reads one does not show it in what it prints and gives back. */
export const secretMethods = ofApp('functions', [
  sdkQuery('secrets.get', '(name: string): Promise<string>', [['name', schema(t.String())]], async ({ scope, conceal }, name) => {
    const value = await readSecret(scope, name)
    conceal(value)
    return value
  }),
])
