import { toValuesView, type Values } from '#shared/core/records/record.ts'
import type { ChangeValues } from '#shared/core/records/store.ts'
import { textLength } from '#shared/core/records/text-size.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { isSameValue } from '#shared/core/types/field-kinds/value.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { actorColumns, causeColumns } from '#shared/platform/kernel/cause.ts'

/**
 * Parameters of the audit entry and of the event, which the statement of a change writes along with the record
 * (docs/contract/records.md#audit). `before` is null for a creation, `after` for a deletion. Empty values of a creation or deletion are
 * omitted.
 */
export function auditSlots(scope: Scope, type: RecordType, before: Values | null, after: Values | null): ChangeValues {
  const { cause, workspace } = scope
  const [beforeJson, afterJson] = [jsonOf(type, before, after === null), jsonOf(type, after, before === null)]
  return {
    workspaceId: workspace.id,
    ...actorColumns(cause),
    objectType: type.key,
    before: beforeJson,
    after: afterJson,
    textLength: (beforeJson?.length ?? 0) + (afterJson?.length ?? 0),
    requestId: cause.requestId,
    typeRevision: type.revision,
    ...causeColumns(cause),
    cause: JSON.stringify(cause),
  }
}

/** One side of a change as JSON text. The only side of a creation or deletion (`isAlone`) omits empty values. */
const jsonOf = (type: RecordType, values: Values | null, isAlone: boolean): string | null =>
  values && JSON.stringify(isAlone ? presentValuesView(type, values) : changedView(type, values))

/** The values of a created or deleted record in JSON form, as its audit entry shows them: empty ones omitted. */
export const presentValuesView = (type: RecordType, values: Values): Record<string, unknown> =>
  toValuesView(type, values, new Set(Object.keys(values).filter((key) => (values[key] ?? null) !== null)))

const changedView = (type: RecordType, values: Values): Record<string, unknown> => toValuesView(type, values, new Set(Object.keys(values)))

/** What the entry of a record says of those fields whose values differ: their values in JSON form, and about how much text they have. */
export function auditedChange(type: RecordType, fields: readonly Field[], before: Values, after: Values) {
  const changed = fields.filter(({ key }) => !isSameValue(before[key] ?? null, after[key] ?? null))
  const keys = new Set(changed.map(({ key }) => key))
  const views = { before: toValuesView(type, before, keys), after: toValuesView(type, after, keys) }
  return { ...views, length: textLength(views.before) + textLength(views.after) }
}
