import { recordAccessFor } from '#shared/core/records/access.ts'
import { readRecordFilter } from '#shared/core/records/query/filter.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { findRecordType, type RecordType, unknownTypeProblem } from '#shared/core/types/record-type.ts'
import { requireFunction } from '#shared/features/functions/definitions/functions.ts'
import type { QueueDefinition } from '#shared/features/queues/definitions/read-definition.ts'
import type { Queue, Stage } from '#shared/features/queues/definitions/schemas.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'

/** Whether the caller may start a flow, and there is one: the room of flows stands to the right of this one. */
export type FlowCheck = (scope: Scope, flowId: string, path: string) => Promise<void>

/**
 * Throws VALIDATION_ERROR when the queue's type, a field of it that intake or a record patch names, or a condition of the filter is not there
 * for the caller, as whom intake acts. What stays as it was is not asked again, so a queue can be changed after a field has gone.
 */
export async function requireTypeReferences(scope: Scope, made: QueueDefinition, before: Queue | undefined): Promise<void> {
  const { object_type, intake, stages } = made
  if (object_type === null) return
  const type = await findRecordType(scope, object_type)
  if (!type) {
    if (before?.object_type === object_type && !intake.enabled) return
    throw await unknownTypeProblem(scope, 'object_type', object_type)
  }
  if (JSON.stringify([object_type, intake]) !== JSON.stringify([before?.object_type, before?.intake])) requireIntake(scope, type, intake)
  for (const [index, stage] of stages.entries()) {
    if (stage.record_patch && !isSame(before, stage, 'record_patch'))
      requireFields(type, Object.keys(stage.record_patch), `stages[${index}].record_patch`)
  }
}

function requireIntake(scope: Scope, type: RecordType, { filter, key_field }: QueueDefinition['intake']): void {
  const { hideable } = recordAccessFor(scope, type, 'records:read')
  for (const [index, one] of filter.entries()) readRecordFilter(type, hideable, one, `intake.filter[${index}]`)
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

const isSame = (before: Queue | undefined, stage: Stage, part: 'record_patch' | 'on_enter' | 'buttons'): boolean =>
  JSON.stringify(before?.stages.find(({ key }) => key === stage.key)?.[part]) === JSON.stringify(stage[part])

/**
 * Throws VALIDATION_ERROR for a function or flow that a stage names and that is not there, FORBIDDEN where the caller may not run it
 * (decisions, Work queues). What stays as it was is not asked again.
 */
export async function requireRunReferences(
  scope: Scope,
  { stages }: QueueDefinition,
  before: Queue | undefined,
  flows: FlowCheck,
): Promise<void> {
  for (const [index, stage] of stages.entries()) {
    const path = `stages[${index}]`
    const { function_id, flow_id } = isSame(before, stage, 'on_enter') ? {} : (stage.on_enter ?? {})
    if (function_id !== undefined) await requireInvocable(scope, function_id, `${path}.on_enter.function_id`)
    if (flow_id !== undefined) await flows(scope, flow_id, `${path}.on_enter.flow_id`)
    if (isSame(before, stage, 'buttons')) continue
    for (const [place, button] of stage.buttons.entries())
      await requireInvocable(scope, button.function_id, `${path}.buttons[${place}].function_id`)
  }
}

/** Throws VALIDATION_ERROR naming `path` when there is no such function, FORBIDDEN where the caller may not run it. */
export async function requireInvocable(scope: Scope, id: string, path: string): Promise<void> {
  const known = await requireFunction(scope, id).catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'NOT_FOUND')
      throw problem('VALIDATION_ERROR', `${path} must be the id of a function, got ${id}`)
    throw error
  })
  requirePermission(scope, 'functions:invoke', known.id)
}
