import { functionLimits } from '#shared/features/functions/limits.ts'
import { instant, schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

/** A secret in lists, without its value, which is never returned. */
export const secretView = schema(
  t.Object(
    { name: t.String(), created_at: instant, updated_at: instant },
    { title: 'FunctionSecret', description: 'A value that only functions of the workspace can read, with sdk.secrets.get.' },
  ),
)
export type SecretView = TypeOf<typeof secretView>

export const secretInput = schema(
  t.Object({ value: t.String({ minLength: 1, maxLength: functionLimits.secretCharacters, description: 'Never returned.' }) }),
)
