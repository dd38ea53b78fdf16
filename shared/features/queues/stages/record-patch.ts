import { changeRecord } from '#shared/core/records/change/update-record.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { Queue, Stage } from '#shared/features/queues/definitions/schemas.ts'
import type { ItemRow } from '#shared/features/queues/items/schemas.ts'
import { toInstant } from '#shared/platform/kernel/time/instant.ts'
import { jsonNumberText } from '#shared/platform/kernel/values/json.ts'

/**
 * Writes what a stage has for the linked record, as the caller and before the item moves (document 2, POST move). Nothing is written for an
 * item without a record, or in a queue that links none. Throws what the change of the record throws.
 */
export async function patchRecord(scope: Scope, queue: Queue, stage: Stage, item: ItemRow): Promise<void> {
  if (!patchesRecord(queue, stage, item) || queue.object_type === null || item.record_id === null) return
  requirePermission(scope, 'records:update', queue.object_type)
  const entries = Object.entries(stage.record_patch ?? {}).map(([key, text]) => [key, filled(text, scope, item)])
  await changeRecord(scope, queue.object_type, item.record_id, Object.fromEntries(entries))
}

/** Whether entering the stage writes something to the item's record. */
export const patchesRecord = (queue: Queue, stage: Stage, item: ItemRow): boolean =>
  stage.record_patch !== null && queue.object_type !== null && item.record_id !== null

const reference = /\{\{\s*([^{}]+?)\s*\}\}/g

/** The text with its references filled in once; one that is known to be empty, or a path that leads nowhere, is empty text; empty text clears the field. */
function filled(text: string, scope: Scope, item: ItemRow): string | null {
  const made = text.replace(reference, (whole, path: string) => referenced(path, scope, item) ?? whole)
  return made === '' ? null : made
}

function referenced(path: string, { now, cause }: Scope, item: ItemRow): string | undefined {
  if (path === 'item.key') return item.key
  if (path === 'now') return toInstant(now())
  if (path === 'principal.id') return cause.actorId ?? ''
  const [, inside] = /^item\.payload\.(.+)$/.exec(path) ?? []
  return inside === undefined ? undefined : textAt(item.payload, inside.split('.'))
}

function textAt(value: unknown, [key, ...rest]: readonly string[]): string {
  if (key === undefined) return textOf(value)
  const isThere = typeof value === 'object' && value !== null && !JSON.isRawJSON(value) && Object.hasOwn(value, key)
  return isThere ? textAt((value as Readonly<Record<string, unknown>>)[key], rest) : ''
}

const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : (jsonNumberText(value) ?? JSON.stringify(value))
}
