import { schema, t } from '#shared/platform/kernel/schema.ts'

/** Result of an import (docs/contract/calendar.md#import). */
export const importResult = schema(
  t.Object(
    {
      created: t.Integer({ minimum: 0 }),
      updated: t.Integer({ minimum: 0 }),
      skipped: t.Integer({ minimum: 0 }),
      warnings: t.Array(t.Object({ line: t.Integer(), uid: t.String(), message: t.String() }, { title: 'ImportWarning' }), {
        description: '100 at most.',
      }),
    },
    { title: 'CalendarImport' },
  ),
)
