import { requireEnabled, requireFunction } from '#shared/functions/functions.ts'
import { ofApp, sdkMethod } from '#shared/functions/sdk/method.ts'
import { schema, t } from '#shared/kernel/schema.ts'
import { requirePermission } from '#shared/scope/access.ts'

/** Functions that call each other; the one that is called has the rights of this run. */
export const functionMethods = ofApp('functions', [
  sdkMethod(
    'functions.invoke',
    '(id: string, input?: unknown): Promise<Invocation>',
    [
      ['id', schema(t.String())],
      ['input', schema(t.Unknown())],
    ],
    async ({ scope, invoke }, id, input) => {
      const known = await requireFunction(scope, id)
      requirePermission(scope, 'functions:invoke', known.id)
      await requireEnabled(scope, id)
      return invoke(known.id, input ?? null)
    },
  ),
])
