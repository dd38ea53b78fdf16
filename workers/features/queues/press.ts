import type { Scope } from '#shared/core/scope/scope.ts'
import { runFunctionJob } from '#shared/features/functions/jobs.ts'
import { requireQueue } from '#shared/features/queues/definitions/load.ts'
import type { Button, Queue } from '#shared/features/queues/definitions/schemas.ts'
import { findAnyItemViews } from '#shared/features/queues/items/find.ts'
import { type ButtonResult, type PressPayload, pressButtonJob } from '#shared/features/queues/jobs.ts'
import {
  buttonInput,
  findPressedItems,
  type PressedItem,
  recordButtonPress,
  requireButton,
  requirePressable,
} from '#shared/features/queues/stages/buttons.ts'
import { findWorkspaceOperation } from '#shared/platform/jobs/operations/operations.ts'
import { requireNotHalted } from '#shared/platform/kernel/background.ts'
import { maxCauseDepth } from '#shared/platform/kernel/cause.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'
import { automationCause } from '#workers/features/queues/automation-scope.ts'
import type { StartJob } from '#workers/platform/jobs/handler.ts'

const started = schema(t.Array(t.Object({ itemId: t.String(), runId: t.Optional(t.String()), error: t.Optional(t.String()) })))

/** Starts the button's function for each item, waits without occupying a slot until all runs have ended, and returns the result of each. */
export default defineHandler(pressButtonJob, async ({ payload, scope, checkpoint, park, commit }) => {
  const { queueId, stage, buttonId, itemIds } = payload
  const queue = await requireQueue(scope, queueId)
  const runs = checkpoint === undefined ? await checkAndFindItems(scope, queue, payload) : started.parse(checkpoint)
  if (checkpoint === undefined && runs.some((run) => 'item' in run)) {
    return park((inside, start) => startAll(inside, start, requireButton(queue, stage, buttonId), queue, runs as readonly PressedItem[]))
  }
  const results = await Promise.all(runs.map((run) => resultOf(scope, run)))
  const items = await findAnyItemViews(scope, queue, itemIds)
  return commit(async (inside) => {
    for (const [index, result] of results.entries()) {
      const item = items.get(result.item_id)
      // An item without a run gets no history entry.
      if (item && (runs[index] as { runId?: string }).runId !== undefined) await recordButtonPress(inside, queue, buttonId, item, result)
    }
    return { result: results }
  })
})

async function checkAndFindItems(scope: Scope, queue: Queue, { stage, buttonId, itemIds }: PressPayload): Promise<PressedItem[]> {
  await requirePressable(scope, queue, stage, buttonId)
  requireNotHalted({ work: 'request', app: 'functions' }, scope.workspace)
  if (scope.cause.depth >= maxCauseDepth)
    throw problem('VALIDATION_ERROR', `automations set each other off more than ${maxCauseDepth} deep`)
  return findPressedItems(scope, queue, stage, itemIds)
}

async function startAll(scope: Scope, start: StartJob, button: Button, queue: Queue, pressed: readonly PressedItem[]) {
  const origin = { workspaceId: scope.workspace.id, cause: automationCause(scope, queue) }
  const runs = []
  for (const pressedItem of pressed) {
    if ('error' in pressedItem) runs.push(pressedItem)
    else {
      const payload = {
        functionId: button.function_id,
        input: JSON.stringify(buttonInput(queue, button, pressedItem.item)),
        rights: 'lesser',
      } as const
      runs.push({ itemId: pressedItem.itemId, runId: await start(runFunctionJob, origin, payload) })
    }
  }
  return runs
}

async function resultOf(
  scope: Scope,
  run: { readonly itemId: string; readonly runId?: string; readonly error?: string },
): Promise<ButtonResult> {
  if (run.runId === undefined) return { item_id: run.itemId, ok: false, error: run.error ?? '' }
  const operation = await findWorkspaceOperation(scope.db, scope.workspace.id, run.runId)
  const { error } = (operation?.result ?? {}) as { error?: string }
  const failure = operation?.error ? `${operation.error.code}: ${operation.error.message}` : error
  return failure === undefined ? { item_id: run.itemId, ok: true } : { item_id: run.itemId, ok: false, error: failure }
}
