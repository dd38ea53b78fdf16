import type { Block, Trigger } from '#shared/core/automation/block.ts'
import type { BlockView } from '#shared/core/automation/schemas.ts'
import { notifyBlock } from '#shared/core/notifications/blocks.ts'
import { createRecordBlock } from '#shared/core/records/blocks/create-record.ts'
import { deleteRecordBlock } from '#shared/core/records/blocks/delete-record.ts'
import { findRecordsBlock } from '#shared/core/records/blocks/find-records.ts'
import { recordEventTrigger } from '#shared/core/records/blocks/trigger-record-event.ts'
import { updateRecordBlock } from '#shared/core/records/blocks/update-record.ts'
import { postEntryBlock } from '#shared/features/accounting/blocks.ts'
import { calendarEventTrigger, createEventBlock } from '#shared/features/calendar/blocks.ts'
import { eventTrigger } from '#shared/features/flows/blocks/event-trigger.ts'
import { httpRequestBlock } from '#shared/features/flows/blocks/http-request.ts'
import { conditionBlock, filterBlock, forEachBlock } from '#shared/features/flows/blocks/logic.ts'
import { reduceBlock } from '#shared/features/flows/blocks/reduce.ts'
import { manualTrigger, scheduleTrigger } from '#shared/features/flows/blocks/triggers.ts'
import { waitBlock } from '#shared/features/flows/blocks/wait.ts'
import type { BlockShape } from '#shared/features/flows/definitions/graph.ts'
import { runFunctionBlock } from '#shared/features/functions/blocks.ts'
import { sendMessageBlock } from '#shared/features/messages/blocks.ts'
import { createPaymentLinkBlock } from '#shared/features/payments/blocks.ts'
import { enqueueItemBlock } from '#shared/features/queues/blocks.ts'

/** All kinds of triggers and blocks, in the order editors show them. A feature's own blocks need a line here. */
export const blockKinds: readonly (Block | Trigger)[] = [
  recordEventTrigger,
  scheduleTrigger,
  manualTrigger,
  calendarEventTrigger,
  eventTrigger,
  conditionBlock,
  filterBlock,
  reduceBlock,
  forEachBlock,
  waitBlock,
  createRecordBlock,
  updateRecordBlock,
  deleteRecordBlock,
  findRecordsBlock,
  runFunctionBlock,
  httpRequestBlock,
  sendMessageBlock,
  createEventBlock,
  enqueueItemBlock,
  postEntryBlock,
  createPaymentLinkBlock,
  notifyBlock,
]

/** Lists all kinds of triggers and blocks, for flow editors. */
export const listBlockKinds = (): BlockView[] =>
  blockKinds.map((kind) => ({
    type: kind.type,
    label: kind.label,
    description: kind.description,
    is_trigger: kind.isTrigger,
    handles: [...kind.handles],
    settings: kind.settings.json as unknown as Record<string, unknown>,
    required: [...kind.required],
    output: kind.isTrigger ? { ...kind.sample } : (kind.output as Record<string, unknown>),
    app: kind.isTrigger ? null : kind.app,
  }))

const byType = new Map(blockKinds.map((kind) => [kind.type, kind]))

/** Kind of block or trigger by its type; undefined when unknown. */
export const blockKindOf = (type: string): Block | Trigger | undefined => byType.get(type)

/** Properties of a kind of block that a graph depends on; undefined when unknown. */
export function blockShapeOf(type: string): BlockShape | undefined {
  const kind = blockKindOf(type)
  if (!kind) return undefined
  const { isTrigger, handles } = kind
  return { isTrigger, handles, isLoop: !kind.isTrigger && 'loops' in kind.work, isWait: type === 'logic.wait' }
}
