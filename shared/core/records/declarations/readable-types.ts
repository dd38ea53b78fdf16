import { recordAccessFor } from '#shared/core/records/access.ts'
import type { ReadableField, ReadableType } from '#shared/core/records/declarations/schemas.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { pageDefinitions } from '#shared/core/types/definition-page.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { requireRecordType } from '#shared/core/types/record-type.ts'
import { findTypes } from '#shared/core/types/types/store.ts'
import type { LinkedPage, LinkedQuery } from '#shared/platform/db/lists.ts'

/** A page of the types whose records the caller may read, or all; built-in types first. Throws VALIDATION_ERROR like `pageDefinitions`. */
export async function listReadableTypes(scope: Scope, query: LinkedQuery): Promise<LinkedPage<ReadableType>> {
  const { items, next } = await pageDefinitions(scope, await readReadable(scope), query)
  return { items: items.map(({ view }) => view), next }
}

/** All types whose records the caller may read, with the fields that it may read; built-in types first. */
export const allReadableTypes = async (scope: Scope): Promise<ReadableType[]> => (await readReadable(scope)).map(({ view }) => view)

async function readReadable(scope: Scope) {
  const stored = await scope.db.query(findTypes({ workspaceId: scope.workspace.id }))
  const types = await Promise.all(stored.map(async (one) => ({ ...one, type: await requireRecordType(scope, one.key) })))
  return types.flatMap(({ key, created_at, system, type }) => {
    const { verdict, neverVisible, hideable } = recordAccessFor(scope, type, 'records:read')
    if (verdict === 'none') return []
    const visible = type.fields.filter((field) => !neverVisible.has(field.key))
    const fields = visible.map((field) => viewOf(field, hideable.has(field.key)))
    return [{ key, created_at, system, view: { key, label: type.label, fields } }]
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
