import { schema, t } from '#shared/platform/kernel/schema.ts'

/** The input that makes a field computed. */
export const formulaInput = schema(
  t.Object({ formula: t.String({ minLength: 1, description: 'In the spreadsheet formula language, over fields of the same record.' }) }),
)
