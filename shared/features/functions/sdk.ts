import { defineSdkMethod, restrictToApp } from '#shared/core/automation/sdk-method.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import { requireEnabledFunction, requireFunction } from '#shared/features/functions/definitions/functions.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** SDK method that invokes another function with the rights of the invoking run. */
export const functionMethods = restrictToApp('functions', [
  defineSdkMethod(
    'functions.invoke',
    '(id: string, input?: unknown): Promise<Invocation>',
    [
      ['id', schema(t.String())],
      ['input', schema(t.Unknown())],
    ],
    async ({ scope, invoke }, id, input) => {
      const known = await requireFunction(scope, id)
      requirePermission(scope, 'functions:invoke', known.id)
      await requireEnabledFunction(scope, id)
      return invoke(known.id, input ?? null)
    },
  ),
])
