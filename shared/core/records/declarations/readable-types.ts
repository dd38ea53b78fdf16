import { recordAccessFor } from '#shared/core/records/access.ts'
import type { ReadableField, ReadableType } from '#shared/core/records/declarations/schemas.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { requireRecordType } from '#shared/core/types/record-type.ts'
import { findTypes } from '#shared/core/types/types/store.ts'

/** The types whose records the caller may read, with the fields that it may read; built-in types first. */
export async function listReadableTypes(scope: Scope): Promise<ReadableType[]> {
  const stored = await scope.db.query(findTypes({ workspaceId: scope.workspace.id }))
  const types = await Promise.all(stored.map(({ key }) => requireRecordType(scope, key)))
  return types.flatMap((type) => {
    const { verdict, neverVisible, hideable } = recordAccessFor(scope, type, 'records:read')
    if (verdict === 'none') return []
    const visible = type.fields.filter(({ key }) => !neverVisible.has(key))
    return [{ key: type.key, label: type.label, fields: visible.map((field) => viewOf(field, hideable.has(field.key))) }]
  })
}

const viewOf = ({ key, label, type, rules, required, autogen }: Field, sometimesHidden: boolean): ReadableField => ({
  key,
  label,
  type,
  options: [...(rules.options ?? [])],
  computed: rules.formula !== undefined,
  needed: required && rules.default === undefined && autogen === '' && rules.formula === undefined,
  required,
  sometimes_hidden: sometimesHidden,
})
