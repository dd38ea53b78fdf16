import { changeRecord } from '#shared/core/records/change/update-record.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { requireRecordType } from '#shared/core/types/record-type.ts'
import type { Queue, Stage } from '#shared/features/queues/definitions/schemas.ts'
import type { ItemRow } from '#shared/features/queues/items/schemas.ts'
import { toInstant } from '#shared/platform/kernel/time/instant.ts'
import { jsonNumberText } from '#shared/platform/kernel/values/json.ts'

/**
 * Applies a stage's record patch to the linked record, as the caller and before the item moves (docs/contract/queues.md#record-patch).
 * Writes nothing for an item without a record or a queue without a record type. Throws the errors of `changeRecord`.
 */
export async function patchRecord(scope: Scope, queue: Queue, stage: Stage, item: ItemRow): Promise<void> {
  if (!patchesRecord(queue, stage, item) || queue.object_type === null || item.record_id === null) return
  requirePermission(scope, 'records:update', queue.object_type)
  const entries = Object.entries(stage.record_patch ?? {}).map(([key, text]) => [key, fillReferences(text, scope, item)])
  await changeRecord(scope, await requireRecordType(scope, queue.object_type), item.record_id, Object.fromEntries(entries))
}

/** Whether entering the stage changes the item's record. */
export const patchesRecord = (queue: Queue, stage: Stage, item: ItemRow): boolean =>
  stage.record_patch !== null && queue.object_type !== null && item.record_id !== null

const reference = /\{\{\s*([^{}]+?)\s*\}\}/g

/**
 * Replaces references once, without recursion; an empty value or a missing path becomes empty text. Returns null, which clears the field,
 * when the whole text is empty.
 */
function fillReferences(text: string, scope: Scope, item: ItemRow): string | null {
  const result = text.replace(reference, (whole, path: string) => resolveReference(path, scope, item) ?? whole)
  return result === '' ? null : result
}

function resolveReference(path: string, { now, cause }: Scope, item: ItemRow): string | undefined {
  if (path === 'item.key') return item.key
  if (path === 'now') return toInstant(now())
  if (path === 'principal.id') return cause.actorId ?? ''
  const [, payloadPath] = /^item\.payload\.(.+)$/.exec(path) ?? []
  return payloadPath === undefined ? undefined : textAt(item.payload, payloadPath.split('.'))
}

function textAt(value: unknown, [key, ...rest]: readonly string[]): string {
  if (key === undefined) return textOf(value)
  const isPresent = typeof value === 'object' && value !== null && !JSON.isRawJSON(value) && Object.hasOwn(value, key)
  return isPresent ? textAt((value as Readonly<Record<string, unknown>>)[key], rest) : ''
}

const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : (jsonNumberText(value) ?? JSON.stringify(value))
}
