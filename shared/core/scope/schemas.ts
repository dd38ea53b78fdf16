import { schema, t } from '#shared/platform/kernel/schema.ts'

/** Warnings of a response; absent if there are none. */
export const warningsSchema = schema(
  t.Array(t.String(), { description: 'Why visitors cannot use what was published, and how to change that; absent where they can.' }),
).json
