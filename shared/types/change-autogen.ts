import type { Scope } from '#shared/access/scope.ts'
import { sql } from '#shared/db/statement.ts'
import { problem } from '#shared/kernel/errors.ts'
import { schema, t } from '#shared/kernel/schema.ts'
import { writeField } from '#shared/types/field-store.ts'
import { type FieldView, viewField } from '#shared/types/field-view.ts'
import { parseNumbering } from '#shared/types/numbering.ts'
import { requireCustomField } from '#shared/types/require-field.ts'

/** What makes a field number itself. */
export const autogenInput = schema(
  t.Object({
    pattern: t.String({ minLength: 1, description: 'Text with one {seq} token and date tokens, such as INV-{yyyy}-{seq:4:yearly}.' }),
    next: t.Optional(t.Integer({ minimum: 0, maximum: 1e15, description: 'Above 0: the next number is at least this.' })),
  }),
)

const setPattern = sql(
  'set_autogen',
  `update fields set autogen = $3 where workspace_id = $1 and id = $2 and not system and not rules ? 'formula' returning id`,
)

const raise = sql(
  'raise_number',
  `insert into field_numbers as counter (workspace_id, field_id, period, next) values ($1, $2, $3, $4)
   on conflict (workspace_id, field_id, period) do update set next = greatest(counter.next, excluded.next)`,
)

/**
 * Makes a custom string field number itself; records that exist stay as they are (document 1, Field rules, 3). Throws NOT_FOUND, and
 * VALIDATION_ERROR for another type, a computed field or a bad pattern.
 */
export async function numberField(
  scope: Scope,
  fieldId: string,
  { pattern, next = 0 }: { pattern: string; next?: number },
): Promise<FieldView> {
  const { id, type, rules, key } = await requireCustomField(scope, fieldId)
  if (type !== 'string') throw problem('VALIDATION_ERROR', `auto-numbering is for string fields; ${key} is a ${type} field`)
  if (rules.formula !== undefined) throw problem('VALIDATION_ERROR', `${key} is computed; remove its formula before it numbers itself`)
  const numbering = parseNumbering(pattern)
  const workspaceId = scope.workspace.id
  return scope.db.transaction(async (tx) => {
    const field = await writeField(tx, workspaceId, id, setPattern(workspaceId, id, pattern))
    if (!field) throw problem('NOT_FOUND')
    if (next > 0) await tx.query(raise(workspaceId, id, numbering.periodOf(scope.now()), next))
    return viewField(field)
  })
}

/** Makes a field ordinary again. Its counter stays, so that no number is ever issued twice. Throws NOT_FOUND. */
export async function stopNumbering(scope: Scope, fieldId: string): Promise<void> {
  const { id } = await requireCustomField(scope, fieldId)
  if (!(await writeField(scope.db, scope.workspace.id, id, setPattern(scope.workspace.id, id, '')))) throw problem('NOT_FOUND')
}
