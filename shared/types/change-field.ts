import type { Statement } from '#shared/db/statement.ts'
import { problem } from '#shared/kernel/errors.ts'
import type { Scope } from '#shared/scope/scope.ts'
import { requireRefType } from '#shared/types/create-field.ts'
import { describe, repoint, writeField } from '#shared/types/field-store.ts'
import { type FieldView, viewField } from '#shared/types/field-view.ts'
import type { Field } from '#shared/types/fields/field.ts'
import { fieldKinds } from '#shared/types/fields/kinds.ts'
import { refuseBuiltIn } from '#shared/types/require-field.ts'

/** Sets a custom field's description; empty text clears it. Throws NOT_FOUND. */
export async function describeField(scope: Scope, field: Field, description: string): Promise<FieldView> {
  refuseBuiltIn(field)
  return write(scope, field.id, describe(scope.workspace.id, field.id, description))
}

/** Points a custom `ref` or `refs` field at another type; stored ids stay as they are (document 1, Fields, rule 6). Throws NOT_FOUND. */
export async function repointField(scope: Scope, field: Field, refType: string): Promise<FieldView> {
  refuseBuiltIn(field)
  const { id, type, key } = field
  if (!fieldKinds[type].ruleKeys.includes('ref_type'))
    throw problem('VALIDATION_ERROR', `ref_type is for ref and refs fields; ${key} is a ${type} field`)
  await requireRefType(scope, refType, 'ref_type')
  return write(scope, id, repoint(scope.workspace.id, id, refType))
}

async function write({ db, workspace }: Scope, fieldId: string, statement: Statement): Promise<FieldView> {
  const field = await writeField(db, workspace.id, fieldId, statement)
  if (!field) throw problem('NOT_FOUND')
  return viewField(field)
}
