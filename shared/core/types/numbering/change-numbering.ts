import { type Scope, within } from '#shared/core/scope/scope.ts'
import { announceFieldChange } from '#shared/core/types/events.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { lockField, refuseBuiltIn } from '#shared/core/types/fields/require-field.ts'
import { type FieldView, toFieldView } from '#shared/core/types/fields/schemas.ts'
import { raiseNumber, setAutogen } from '#shared/core/types/fields/store.ts'
import { parseNumbering } from '#shared/core/types/numbering/numbering-pattern.ts'
import type { AutogenInput } from '#shared/core/types/numbering/schemas.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * Enables auto-numbering of a custom string field; existing records are unchanged (docs/contract/types-and-fields.md#auto-numbers). With
 * `next` above 0 the next number of the current period is at least `next`; the counter never decreases. Throws NOT_FOUND, and
 * VALIDATION_ERROR for another type, a computed field, an invalid pattern and a pattern whose numbers the field's own rules refuse.
 */
export async function enableAutoNumbering(scope: Scope, found: Field, input: AutogenInput): Promise<FieldView> {
  refuseBuiltIn(found)
  return scope.db.transaction(async (tx) => {
    const { type, field } = await lockField(tx, scope, found)
    requireNumberable(field)
    await setNumbering(within(scope, tx), field, input.pattern, Math.max(input.next ?? 0, 1))
    if (input.pattern !== field.autogen) await announceFieldChange(within(scope, tx), type, field)
    return toFieldView({ ...field, autogen: input.pattern })
  })
}

/** Disables auto-numbering. The counters stay, so that no number is issued twice. Throws NOT_FOUND. */
export async function disableAutoNumbering(scope: Scope, found: Field): Promise<void> {
  refuseBuiltIn(found)
  await scope.db.transaction(async (tx) => {
    const { type, field } = await lockField(tx, scope, found)
    await tx.query(setAutogen({ workspaceId: scope.workspace.id, id: field.id, pattern: '' }))
    if (field.autogen !== '') await announceFieldChange(within(scope, tx), type, field)
  })
}

function requireNumberable({ key, type, rules }: Field): void {
  if (type !== 'string') throw problem('VALIDATION_ERROR', `auto-numbering is for string fields; ${key} is a ${type} field`)
  if (rules.formula !== undefined)
    throw problem('VALIDATION_ERROR', `${key} is computed; remove its formula before you enable auto-numbering`)
}

async function setNumbering(scope: Scope, field: Field, pattern: string, next: number): Promise<void> {
  const [numbering, now, workspaceId] = [parseNumbering(pattern), scope.now(), scope.workspace.id]
  requireAllowedNumber(field, numbering.format(next, now))
  await scope.db.query(setAutogen({ workspaceId, id: field.id, pattern }))
  if (next > 1) await scope.db.query(raiseNumber({ workspaceId, fieldId: field.id, period: numbering.periodOf(now), next }))
}

/** Throws VALIDATION_ERROR when the field's own rules refuse a number of its pattern. */
export const requireAllowedNumber = (field: Pick<Field, 'type' | 'rules'>, text: string): void =>
  fieldKinds[field.type].check(text, field, `pattern: ${text}`)
