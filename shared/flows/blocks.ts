import type { Block, Trigger } from '#shared/flows/block.ts'
import { conditionBlock } from '#shared/flows/blocks/condition.ts'
import { createEventBlock } from '#shared/flows/blocks/create-event.ts'
import { createPaymentLinkBlock } from '#shared/flows/blocks/create-payment-link.ts'
import { createRecordBlock } from '#shared/flows/blocks/create-record.ts'
import { enqueueItemBlock } from '#shared/flows/blocks/enqueue-item.ts'
import { filterBlock } from '#shared/flows/blocks/filter.ts'
import { forEachBlock } from '#shared/flows/blocks/for-each.ts'
import { httpRequestBlock } from '#shared/flows/blocks/http-request.ts'
import { notifyBlock } from '#shared/flows/blocks/notify.ts'
import { postEntryBlock } from '#shared/flows/blocks/post-entry.ts'
import { reduceBlock } from '#shared/flows/blocks/reduce.ts'
import { runFunctionBlock } from '#shared/flows/blocks/run-function.ts'
import { sendMessageBlock } from '#shared/flows/blocks/send-message.ts'
import { calendarEventTrigger } from '#shared/flows/blocks/trigger-calendar-event.ts'
import { manualTrigger } from '#shared/flows/blocks/trigger-manual.ts'
import { recordEventTrigger } from '#shared/flows/blocks/trigger-record-event.ts'
import { scheduleTrigger } from '#shared/flows/blocks/trigger-schedule.ts'
import { updateRecordBlock } from '#shared/flows/blocks/update-record.ts'
import { waitBlock } from '#shared/flows/blocks/wait.ts'
import type { Shape } from '#shared/flows/graph.ts'

/** Every kind of trigger and block, in the order in which an editor shows them. A room joins with a file in blocks/ and a line here. */
export const blockKinds: readonly (Block | Trigger)[] = [
  recordEventTrigger,
  scheduleTrigger,
  manualTrigger,
  calendarEventTrigger,
  conditionBlock,
  filterBlock,
  reduceBlock,
  forEachBlock,
  waitBlock,
  createRecordBlock,
  updateRecordBlock,
  runFunctionBlock,
  httpRequestBlock,
  sendMessageBlock,
  createEventBlock,
  enqueueItemBlock,
  postEntryBlock,
  createPaymentLinkBlock,
  notifyBlock,
]

const byType = new Map(blockKinds.map((kind) => [kind.type, kind]))

/** A kind of block or trigger by its type. */
export const kindOf = (type: string): Block | Trigger | undefined => byType.get(type)

/** What a graph must know of a kind of block. */
export function shapeOf(type: string): Shape | undefined {
  const kind = kindOf(type)
  if (!kind) return undefined
  const { isTrigger, handles } = kind
  return { isTrigger, handles, isLoop: !kind.isTrigger && 'loops' in kind.work, isWait: type === 'logic.wait' }
}
