import { type Queue, queueName, stageHeading } from '#shared/features/queues/definitions/schemas.ts'
import { queueLimits as limits } from '#shared/features/queues/limits.ts'
import { pageLimit } from '#shared/platform/db/lists.ts'
import { instant, nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'
import { toInstant } from '#shared/platform/kernel/time/instant.ts'

const stageKey = t.String({ maxLength: 60 })

/** States of an item; all but `open` are closed. */
export const itemStatuses = ['open', 'done', 'failed', 'cancelled'] as const
export type ItemStatus = (typeof itemStatuses)[number]
/** What adds items. */
export const itemSources = ['manual', 'scan', 'import', 'intake', 'function'] as const
export type ItemSource = (typeof itemSources)[number]

const itemKey = t.String({ minLength: 1, maxLength: limits.keyCharacters, description: 'Identifies the item within its queue.' })
const batch = t.String({ maxLength: limits.nameCharacters, description: 'Group label.' })
const note = t.String({ maxLength: limits.noteCharacters, description: 'Kept in the history.' })
/** Priority of an item. */
export const priority = t.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647, description: 'The highest is claimed first.' })
const payload = t.Record(t.String(), t.Unknown(), { description: 'Up to 16 KB of JSON.' })
const assignee = t.String({ maxLength: limits.nameCharacters, description: 'Empty when none.' })
const token = t.String({ maxLength: 200, description: 'claim_token of a claim; refused when that claim of the item has ended.' })

/** The claim that a move or release ended without its token; null when no claim was active or the token was sent. */
export const previousClaim = nullable(
  t.Object(
    { by: uuid, expires_at: instant },
    { title: 'PreviousQueueClaim', description: 'The claim that this change ended without its token; null when there was none.' },
  ),
)

const parts = {
  id: uuid,
  key: t.String(),
  stage: t.String(),
  status: t.Enum([...itemStatuses]),
  priority: t.Integer(),
  source: t.Enum([...itemSources]),
  batch: t.String(),
  record_id: nullable(uuid),
  payload: t.Record(t.String(), t.Unknown()),
  claimed_by: nullable(t.String({ format: 'uuid', description: 'Id of the claimer; null when there is no claim or it has expired.' })),
  claim_expires_at: nullable(instant),
  assignee_id: t.String(),
  attempts: t.Integer({ description: 'Number of claims.' }),
  due_at: nullable(instant),
  overdue: t.Boolean({ 'x-changes-by-itself': true }),
  entered_stage_at: instant,
  created_at: instant,
}

/** An item as answered to callers (docs/contract/queues.md#items). */
export const itemView = schema(t.Object(parts, { title: 'QueueItem', description: 'Something that moves through the stages of a queue.' }))
export type ItemView = TypeOf<typeof itemView>

/** An item after a move or an edit. */
export const changedItem = schema(t.Object({ ...parts, previous_claim: previousClaim }, { title: 'ChangedQueueItem' }))
export type ChangedItem = TypeOf<typeof changedItem>

/** An item with the token of its new claim. */
const claimedItem = t.Object({ ...parts, claim_token: t.String() }, { title: 'ClaimedQueueItem' })
export const claimAnswer = schema(t.Object({ items: t.Array(claimedItem), claimed: t.Integer() }, { title: 'QueueClaim' }))
export type ClaimAnswer = TypeOf<typeof claimAnswer>

const newItem = t.Object({
  key: itemKey,
  stage: t.Optional(nullable(stageKey)),
  batch: t.Optional(nullable(batch)),
  priority: t.Optional(nullable(priority)),
  record_id: t.Optional(nullable(uuid)),
  assignee_id: t.Optional(nullable(assignee)),
  payload: t.Optional(nullable(payload)),
})

/** Body that adds items (docs/contract/queues.md#adding-items). */
export const addInput = schema(
  t.Object(
    {
      items: t.Optional(t.Array(newItem, { minItems: 1, maxItems: limits.itemsPerAdd })),
      keys: t.Optional(t.Array(itemKey, { description: 'Shorthand for items with only a key; ignored when items is present.' })),
      stage: t.Optional(nullable(stageKey)),
      batch: t.Optional(nullable(batch)),
      source: t.Optional(t.Enum([...itemSources])),
      note: t.Optional(nullable(note)),
    },
    { title: 'QueueItemsInput' },
  ),
)
export type AddInput = TypeOf<typeof addInput>
export type NewItem = TypeOf<ReturnType<typeof schema<typeof newItem>>>
/** Items that a function or flow adds. */
export const newItems = schema(t.Array(newItem, { minItems: 1, maxItems: limits.itemsPerAdd }))

const addedItem = t.Object({
  id: nullable(t.String({ format: 'uuid', description: 'null, like stage and status, for a duplicate that is hidden from the caller.' })),
  key: t.String(),
  stage: nullable(t.String()),
  status: nullable(t.Enum([...itemStatuses])),
  duplicate: t.Boolean({ description: 'Whether the key was already open; then this is the open item.' }),
})
export type AddedItem = TypeOf<ReturnType<typeof schema<typeof addedItem>>>
/** Items in the form of the list answer, so that read items can be added to another queue. */
export const copiedItemList = schema(t.Array(itemView.json))
export const copiedItems = schema(t.Object({ items: copiedItemList.json }))

/** Result of adding: each key's current item, in the order sent. */
export const addAnswer = schema(
  t.Object({ created: t.Integer(), duplicates: t.Integer(), items: t.Array(addedItem) }, { title: 'QueueItemsAdded' }),
)
export type AddAnswer = TypeOf<typeof addAnswer>

const moveChoices = { status: t.Optional(t.Enum([...itemStatuses])), note: t.Optional(nullable(note)), claim_token: t.Optional(token) }
/** How a function moves an item, beside the stage. */
export const moveOptions = schema(t.Object(moveChoices, { title: 'QueueMoveOptions' }))
/** Body that moves an item. */
export const moveInput = schema(t.Object({ to_stage: stageKey, ...moveChoices }, { title: 'QueueMove' }))
export type MoveInput = TypeOf<typeof moveInput>

/** Body that claims items. */
export const claimInput = schema(
  t.Object(
    {
      stage: t.Optional(nullable(stageKey)),
      count: t.Optional(t.Integer({ minimum: 1, maximum: limits.claimed })),
    },
    { title: 'QueueClaimInput' },
  ),
)
export type ClaimInput = TypeOf<typeof claimInput>

/** Body that changes an item without moving it. */
export const editInput = schema(
  t.Object(
    {
      priority: t.Optional(priority),
      batch: t.Optional(batch),
      assignee_id: t.Optional(nullable(assignee)),
      due_at: t.Optional(nullable(instant)),
      payload: t.Optional(payload),
      release: t.Optional(t.Boolean({ description: 'true ends the claim.' })),
      note: t.Optional(nullable(note)),
      claim_token: t.Optional(token),
    },
    { title: 'QueueItemChange' },
  ),
)
export type EditInput = TypeOf<typeof editInput>

const scan = {
  key: t.String({
    minLength: 1,
    maxLength: limits.keyCharacters + 2,
    description: 'The scanned text; one trailing line end or tab is removed.',
  }),
  to_stage: t.Optional(nullable(stageKey)),
  payload: t.Optional(nullable(payload)),
}

/** Body of a scan. */
export const scanInput = schema(
  t.Object(
    {
      ...scan,
      stage: t.Optional(nullable(stageKey)),
      batch: t.Optional(nullable(batch)),
      note: t.Optional(nullable(note)),
      claim_token: t.Optional(token),
    },
    { title: 'QueueScan' },
  ),
)
export type ScanInput = TypeOf<typeof scanInput>

const scanVerdicts = ['moved', 'created', 'duplicate', 'unknown', 'blocked'] as const
export type ScanVerdict = (typeof scanVerdicts)[number]
const verdict = { verdict: t.Enum([...scanVerdicts]), message: t.String(), item: nullable(itemView.json) }
export const scanAnswer = schema(t.Object({ ...verdict, previous_claim: previousClaim }, { title: 'QueueVerdict' }))
export interface ScanVerdictView {
  readonly verdict: ScanVerdict
  readonly message: string
  readonly item: ItemView | null
}
export type ScanAnswer = ScanVerdictView & Pick<ChangedItem, 'previous_claim'>

/** Scans that a station recorded while it was offline. */
export const scanLogInput = schema(
  t.Object(
    {
      scans: t.Array(
        t.Object({
          scan_id: t.String({ minLength: 1, maxLength: 100, description: 'The scan is judged once, however often it is sent.' }),
          scanned_at: instant,
          ...scan,
          station: t.Optional(nullable(t.String({ maxLength: limits.nameCharacters }))),
        }),
        { minItems: 1, maxItems: limits.scansPerBatch },
      ),
    },
    { title: 'QueueScanJournal' },
  ),
)
export type LoggedScan = TypeOf<typeof scanLogInput>['scans'][number]
export const scanLogAnswer = schema(
  t.Array(
    t.Object({
      scan_id: t.String(),
      ...verdict,
      conflict: t.Boolean({ description: 'Whether the item entered its stage after it was scanned.' }),
    }),
  ),
)

const paging = {
  limit: pageLimit(),
  offset: t.Integer({ minimum: 0, default: 0 }),
}

const filters = {
  status: t.Optional(t.Enum([...itemStatuses])),
  batch: t.Optional(t.String()),
  key: t.Optional(t.String()),
  q: t.Optional(t.String({ maxLength: 500, description: 'Text contained in key or batch.' })),
  overdue: t.Optional(t.Boolean({ description: 'true: overdue items only.' })),
  assignee_id: t.Optional(t.String()),
  record_id: t.Optional(uuid),
}

/** Query parameters of a stage's items; `itemsQuery` adds `stage` for a queue's items (docs/contract/queues.md#listing-items). */
export const stageItemsQuery = schema(t.Object({ ...filters, ...paging }))
export const itemsQuery = schema(t.Object({ stage: t.Optional(t.String()), ...filters, ...paging }))
export type ItemsQuery = TypeOf<typeof itemsQuery>

export const itemPage = schema(
  t.Object(
    {
      items: t.Array(itemView.json),
      total: t.Integer(),
      next_offset: nullable(t.Integer({ description: 'offset of the next page; null on the last page.' })),
    },
    { title: 'QueueItemPage' },
  ),
)
export type ItemPage = TypeOf<typeof itemPage>

export const boardQuery = schema(t.Object({ limit: pageLimit(), batch: t.Optional(t.String()) }))
export type BoardQuery = TypeOf<typeof boardQuery>

/** All stages with their first items (docs/contract/queues.md#board). */
export const boardAnswer = schema(
  t.Object(
    {
      queue: queueName,
      stages: t.Array(
        t.Object({
          ...stageHeading,
          items: t.Array(itemView.json),
          total: t.Integer({ description: 'Number of open items; of closed items in a terminal stage.' }),
          next_offset: nullable(t.Integer({ description: "offset of the next page of the stage's items; null when all are shown." })),
        }),
      ),
    },
    { title: 'QueueBoard' },
  ),
)
export type Board = TypeOf<typeof boardAnswer>

/** An item's row; unlike in a view, its claim may have expired. */
export interface ItemRow extends Omit<ItemView, 'overdue'> {
  readonly version: number
}

/** An item's view at `now`: an expired claim is omitted, `overdue` is computed. */
export function viewOfItem(queue: Pick<Queue, 'stages'>, row: ItemRow, now: Date): ItemView {
  const item = Object.fromEntries(viewFields.map((name) => [name, row[name]])) as unknown as Omit<ItemView, 'overdue'>
  const time = toInstant(now)
  const isClaimed = item.claim_expires_at !== null && item.claim_expires_at > time
  const sla = queue.stages.find(({ key }) => key === item.stage)?.sla_seconds ?? 0
  const isOverdue = (item.due_at !== null && item.due_at < time) || (sla > 0 && item.entered_stage_at < overdueCutoff(now, sla))
  return { ...item, ...(isClaimed ? {} : { claimed_by: null, claim_expires_at: null }), overdue: item.status === 'open' && isOverdue }
}

/** Columns of a row that a view shows; the row of a change has others, such as the claim that it ended. */
const viewFields = Object.keys(parts).filter((name) => name !== 'overdue') as (keyof Omit<ItemView, 'overdue'>)[]

/** Items that entered a stage before this instant exceed its time limit. */
const overdueCutoff = (now: Date, seconds: number): string => toInstant(new Date(now.getTime() - seconds * 1_000))

/** The cutoffs of the stages that have a time limit. */
export function overdueCutoffs({ stages }: Pick<Queue, 'stages'>, now: Date): { keys: string[]; times: string[] } {
  const timedStages = stages.filter(({ sla_seconds }) => sla_seconds > 0)
  return { keys: timedStages.map(({ key }) => key), times: timedStages.map(({ sla_seconds }) => overdueCutoff(now, sla_seconds)) }
}
