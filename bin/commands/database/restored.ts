import { hasRestoredCopies, markLive, markRestored } from '#shared/platform/db/restored/store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { command } from '../../command.ts'

export const restoredCommands = [
  command({
    name: 'restored',
    summary: 'Mark this database as restored from a backup, before any process starts: it sends no mail, charges and calls nobody',
    options: schema(t.Object({ live: t.Optional(t.Boolean({ description: 'let the copy send mail, charge and call again' })) })),
    run: async ({ live = false }, { db }) => {
      if (!(await db.query(hasRestoredCopies()))[0]?.is_there)
        throw problem('VALIDATION_ERROR', 'The database was made by an earlier release: run npx kontor migrate first')
      const [marked] = live ? await db.query(markLive()) : await db.query(markRestored())
      if (!marked) throw problem('NOT_FOUND', 'This copy is not marked as restored: run npx kontor restored first')
      const line = live
        ? 'This copy is live: it sends mail, charges and calls.'
        : 'This copy sends no mail, charges and calls nobody until npx kontor restored --live. Processes may start.'
      return { data: { live }, lines: [line] }
    },
  }),
]
