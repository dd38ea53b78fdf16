import { recordAccessFor } from '#shared/core/records/access.ts'
import { requireFilter } from '#shared/core/records/query/filter.ts'
import { namesProperty } from '#shared/core/records/query/filter-tree.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { findRecordType, type RecordType, unknownTypeProblem } from '#shared/core/types/record-type.ts'
import { requireFunction } from '#shared/features/functions/definitions/functions.ts'
import type { QueueDefinition } from '#shared/features/queues/definitions/read-definition.ts'
import type { Queue, Stage } from '#shared/features/queues/definitions/schemas.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'

/** Throws unless the flow exists and the caller may start it. A parameter, because queues may not import the flows feature. */
export type FlowCheck = (scope: Scope, flowId: string, path: string) => Promise<void>

/**
 * Throws VALIDATION_ERROR when the queue's type, a field named by intake or a record patch, or a filter condition is not available to the
 * caller, with whose rights intake acts. Unchanged parts are not checked again, so a queue can be changed after a field was removed.
 */
export async function requireTypeReferences(scope: Scope, definition: QueueDefinition, before: Queue | undefined): Promise<void> {
  const { object_type, intake, stages } = definition
  if (object_type === null) return
  const type = await findRecordType(scope, object_type)
  const isIntakeUnchanged = JSON.stringify([object_type, intake]) === JSON.stringify([before?.object_type, before?.intake])
  if (!type) {
    if (isIntakeUnchanged || (before?.object_type === object_type && !intake.enabled)) return
    throw await unknownTypeProblem(scope, 'object_type', object_type)
  }
  if (!isIntakeUnchanged) requireIntake(scope, type, intake)
  for (const [index, stage] of stages.entries()) {
    if (stage.record_patch && !isUnchanged(before, stage, 'record_patch'))
      requireFields(type, Object.keys(stage.record_patch), `stages[${index}].record_patch`)
  }
}

function requireIntake(scope: Scope, type: RecordType, { filter, key_field }: QueueDefinition['intake']): void {
  const { hideable } = recordAccessFor(scope, type, 'records:read')
  requireFilter(type, hideable, filter, 'intake.filter')
  if (namesProperty(filter, 'updated_at'))
    throw problem('VALIDATION_ERROR', 'intake.filter must not test updated_at, which every change alters')
  if (key_field === null) return
  if (!type.fieldByKey.has(key_field) || hideable.has(key_field)) {
    throw problem('VALIDATION_ERROR', `intake.key_field must be a field of ${type.key} that you may read, got ${key_field}`)
  }
}

function requireFields(type: RecordType, keys: readonly string[], path: string): void {
  for (const key of keys) {
    if (!type.fieldByKey.has(key)) throw problem('VALIDATION_ERROR', `${path} must name fields of ${type.key}, got ${key}`)
  }
}

const isUnchanged = (before: Queue | undefined, stage: Stage, part: 'record_patch' | 'on_enter' | 'buttons'): boolean =>
  JSON.stringify(before?.stages.find(({ key }) => key === stage.key)?.[part]) === JSON.stringify(stage[part])

/**
 * Throws VALIDATION_ERROR for an unknown function or flow of a stage, FORBIDDEN when the caller may not run it
 * (docs/contract/queues.md#changing-a-queue). Unchanged references are not checked again.
 */
export async function requireRunReferences(
  scope: Scope,
  { stages }: QueueDefinition,
  before: Queue | undefined,
  requireFlow: FlowCheck,
): Promise<void> {
  for (const [index, stage] of stages.entries()) {
    const path = `stages[${index}]`
    const { function_id, flow_id } = isUnchanged(before, stage, 'on_enter') ? {} : (stage.on_enter ?? {})
    if (function_id !== undefined) await requireInvocable(scope, function_id, `${path}.on_enter.function_id`)
    if (flow_id !== undefined) await requireFlow(scope, flow_id, `${path}.on_enter.flow_id`)
    if (isUnchanged(before, stage, 'buttons')) continue
    for (const [position, button] of stage.buttons.entries())
      await requireInvocable(scope, button.function_id, `${path}.buttons[${position}].function_id`)
  }
}

/** Throws VALIDATION_ERROR naming `path` for an unknown function, FORBIDDEN when the caller may not run it. */
export async function requireInvocable(scope: Scope, id: string, path: string): Promise<void> {
  const known = await requireFunction(scope, id).catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'NOT_FOUND')
      throw problem('VALIDATION_ERROR', `${path} must be the id of a function, got ${id}`)
    throw error
  })
  requirePermission(scope, 'functions:invoke', known.id)
}
