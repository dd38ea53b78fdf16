import { toValuesView, type Values } from '#shared/core/records/record.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'

/**
 * The parameters of the audit entry and the dispatch that a change writes in its own statement (document 1, Audit entry): a creation has
 * no `before`, a deletion no `after`. Values that are empty on a creation or deletion are left out.
 */
export function auditSlots(scope: Scope, type: RecordType, before: Values | null, after: Values | null): Record<string, unknown> {
  const { cause, workspace } = scope
  const [was, is] = [jsonOf(type, before, after === null), jsonOf(type, after, before === null)]
  return {
    workspaceId: workspace.id,
    actorId: cause.actorId,
    actorType: cause.actorId === null ? 'system' : cause.actorType,
    objectType: type.key,
    before: was,
    after: is,
    textLength: (was?.length ?? 0) + (is?.length ?? 0),
    requestId: cause.requestId,
    cause: JSON.stringify(cause),
  }
}

/** One side of a change; of a creation or deletion without the values that are empty. */
const jsonOf = (type: RecordType, values: Values | null, isAlone: boolean): string | null =>
  values && JSON.stringify(isAlone ? presentValuesView(type, values) : changedView(type, values))

/** The values of a created or deleted record as its audit entry shows them. */
export const presentValuesView = (type: RecordType, values: Values): Record<string, unknown> =>
  toValuesView(type, values, new Set(Object.keys(values).filter((key) => (values[key] ?? null) !== null)))

const changedView = (type: RecordType, values: Values): Record<string, unknown> => toValuesView(type, values, new Set(Object.keys(values)))
