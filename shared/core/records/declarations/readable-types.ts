import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { recordAccessFor } from '#shared/core/records/access.ts'
import type { ReadableField, ReadableType } from '#shared/core/records/declarations/schemas.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { pageDefinitions } from '#shared/core/types/definition-page.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { findRecordType, type RecordType } from '#shared/core/types/record-type.ts'
import { findTypes } from '#shared/core/types/types/store.ts'
import type { LinkedPage, LinkedQuery } from '#shared/platform/db/lists.ts'
import { pauseWhenDue } from '#shared/platform/kernel/process/thread-share.ts'

/** A page of the types whose records the caller may read, or all; built-in types first. Throws VALIDATION_ERROR like `pageDefinitions`. */
export async function listReadableTypes(scope: Scope, query: LinkedQuery): Promise<LinkedPage<ReadableType>> {
  const { items, next } = await pageDefinitions(scope, await readReadable(scope), query)
  return { items: items.map(({ view }) => view), next }
}

/** All types whose records the caller may read, with the fields that it may read; built-in types first. */
export const allReadableTypes = async (scope: Scope): Promise<ReadableType[]> => (await readReadable(scope)).map(({ view }) => view)

/** A type, whose view is made when it is asked for: a page needs only those of its types. */
async function readReadable(scope: Scope) {
  const found: { key: string; created_at: string; system: boolean; view: ReadableType }[] = []
  for (const { key, created_at, system } of await scope.db.query(findTypes({ workspaceId: scope.workspace.id }))) {
    await pauseWhenDue(scope.db.owner)
    // Undefined where the type was deleted meanwhile.
    const type = await findRecordType(scope, key)
    const access = type && recordAccessFor(scope, type, 'records:read')
    if (!access || access.verdict === 'none') continue
    found.push({
      key,
      created_at,
      system,
      get view() {
        return readableView(type, access)
      },
    })
  }
  return found
}

function readableView(type: RecordType, { neverVisible, hideable }: RecordAccess): ReadableType {
  const visible = type.fields.filter((field) => !neverVisible.has(field.key))
  return { key: type.key, label: type.label, fields: visible.map((field) => viewOf(field, hideable.has(field.key))) }
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
