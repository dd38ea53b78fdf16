import { requirePermission } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { requireEnabled, serializePayload } from '#shared/features/queues/definitions/load.ts'
import { findNextStage, requireStage } from '#shared/features/queues/definitions/read-definition.ts'
import type { Queue, Stage } from '#shared/features/queues/definitions/schemas.ts'
import { addItems } from '#shared/features/queues/items/add.ts'
import { changeParams, noScanFacts, type ScanFacts } from '#shared/features/queues/items/change-params.ts'
import { insertHistoryEntry, type MoveRefusal } from '#shared/features/queues/items/change-store.ts'
import { findItem, findOpenItem } from '#shared/features/queues/items/find.ts'
import { moveItem, refusalText } from '#shared/features/queues/items/move.ts'
import { type ItemRow, type ScanAnswer, type ScanInput, type ScanVerdict, viewOfItem } from '#shared/features/queues/items/schemas.ts'
import { queueLimits } from '#shared/features/queues/limits.ts'
import { overloadedProblem } from '#shared/platform/db/database-errors.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'

/** Attempts to judge a scan while other transactions change its item. */
export const maxAttempts = 10

/**
 * Judges a scanned key: moves its item on, adds an item, or says why it did neither (docs/contract/queues.md#scanning). Every judged scan
 * adds a history entry. Throws NOT_FOUND for an unknown stage, FORBIDDEN when the queue would add the key but the caller may not,
 * VALIDATION_ERROR for an empty or oversized key, an oversized payload and a disabled queue.
 */
export async function judgeScan(scope: Scope, queue: Queue, input: ScanInput): Promise<ScanAnswer> {
  const { enteredBefore: _, ...answer } = await judgeLoggedScan(scope, queue, input, noScanFacts)
  return answer
}

/** A scan's verdict, and since when the item had been in its stage before the scan; null for a new or unknown item. */
export interface LoggedVerdict extends ScanAnswer {
  readonly enteredBefore: string | null
}

/** Judges a scan like `judgeScan`; `facts` are those of a scan log, or null. */
export async function judgeLoggedScan(scope: Scope, queue: Queue, input: ScanInput, facts: ScanFacts): Promise<LoggedVerdict> {
  requireEnabled(queue)
  const key = readScannedKey(input.key)
  const payload = input.payload == null ? null : serializePayload(input.payload, 'payload')
  if (input.stage != null) requireStage(queue, input.stage)
  const target = input.to_stage == null ? undefined : requireStage(queue, input.to_stage)
  const scan = { input: { ...input, key }, facts, payload, target }
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const item = await findOpenItem(scope, queue, key)
    const judged = await (item === 'hidden'
      ? rejectUnknown(scope, queue, scan)
      : item
        ? scanKnown(scope, queue, scan, item)
        : scanUnknown(scope, queue, scan))
    if (!judged) continue
    const { row, previousClaim: previous_claim = null, ...verdict } = judged
    const enteredBefore = typeof item === 'object' ? item.entered_stage_at : null
    return { ...verdict, item: row ? viewOfItem(queue, row, scope.now()) : null, previous_claim, enteredBefore }
  }
  throw changingItem(queue)
}

/** The error of a scan that could not be judged within `maxAttempts`. */
export const changingItem = ({ key }: Queue) =>
  overloadedProblem(`Other callers kept changing the item in ${key} while it was scanned; try again soon`)

/** Removes the one line end or tab that a scanner appends; throws VALIDATION_ERROR for an empty or oversized key. */
export function readScannedKey(text: string): string {
  const key = text.replace(/(?:\r\n|\r|\n|\t)$/, '')
  if (key === '') throw problem('VALIDATION_ERROR', 'key must have at least 1 characters')
  if ([...key].length > queueLimits.keyCharacters)
    throw problem('VALIDATION_ERROR', `key must have at most ${queueLimits.keyCharacters} characters`)
  return key
}

interface Scan {
  readonly input: Pick<ScanInput, 'key' | 'note' | 'stage' | 'batch' | 'payload' | 'claim_token'>
  readonly facts: ScanFacts
  /** The payload as JSON text, or null. */
  readonly payload: string | null
  readonly target?: Stage | undefined
}

interface Judged {
  readonly verdict: ScanVerdict
  readonly message: string
  readonly row: ItemRow | null
  readonly previousClaim?: ScanAnswer['previous_claim']
}

/** Judges the scan of an open item; undefined when the item changed concurrently. */
async function scanKnown(scope: Scope, queue: Queue, scan: Scan, item: ItemRow): Promise<Judged | undefined> {
  const { input, facts, payload } = scan
  const to = scan.target ?? findNextStage(queue, item.stage)
  if (to.key === item.stage) {
    if (!(await recordScan(scope, queue, scan, item, 'duplicate'))) return undefined
    return { verdict: 'duplicate', message: `${input.key} is in ${to.label} already`, row: item }
  }
  const blocked = async (message: string, row: ItemRow, note = message): Promise<Judged | undefined> =>
    (await recordScan(scope, queue, scan, row, 'blocked', note)) ? { verdict: 'blocked', message, row } : undefined
  try {
    const { note, claim_token: claimToken } = input
    const result = await moveItem(scope, queue, item.id, { to, note, claimToken, scan: { ...facts, payload }, version: item.version })
    if (!result || retryRefusals.has(result.refusal)) return undefined
    if (result.refusal) return await blocked(refusalText(result.refusal, result.item, to), result.item)
    return { verdict: 'moved', message: `${input.key} moved to ${to.label}`, row: result.item, previousClaim: result.previousClaim }
  } catch (error) {
    // The record patch was refused; the item stays in its stage. The message may hold values of the record, which not every reader of the
    // history may see.
    if (!(error instanceof Problem) || error.status >= 500 || to.record_patch === null) throw error
    return blocked(error.message, item, `${error.code}: the record patch was refused`)
  }
}

/** Refusals after which the scan is judged again; the key of a closed item counts as new. */
const retryRefusals: ReadonlySet<MoveRefusal | null> = new Set<MoveRefusal | null>(['changed', 'closed'])

/** Judges the scan of a key that is not open; undefined when another transaction added the item concurrently. */
async function scanUnknown(scope: Scope, queue: Queue, scan: Scan): Promise<Judged | undefined> {
  const { input, facts, target } = scan
  if (queue.settings.on_unknown_scan === 'reject') return rejectUnknown(scope, queue, scan)
  requirePermission(scope, 'queues:enqueue', queue.key)
  const item = { key: input.key, stage: target?.key ?? input.stage ?? null, batch: input.batch ?? null, payload: input.payload ?? null }
  const options = { source: 'scan', note: input.note, scan: facts, allowsDuplicates: false } as const
  const [added] = (await addItems(scope, queue, [item], options)).items
  if (!added || added.duplicate || added.id === null || added.stage === null) return undefined
  const row = (await findItem(scope, queue, added.id)) ?? null
  return { verdict: 'created', message: `${input.key} added to ${requireStage(queue, added.stage).label}`, row }
}

/**
 * Records the scan of an unknown key. A key whose item is hidden from the caller is treated as unknown, and the history entry names no
 * item.
 */
async function rejectUnknown(scope: Scope, queue: Queue, scan: Scan): Promise<Judged> {
  await recordScan(scope, queue, scan, null, 'unknown')
  return { verdict: 'unknown', message: `${scan.input.key} is not in ${queue.name}`, row: null }
}

/**
 * Records a scan that moved or added no item. Returns false, and records nothing, when the item is no longer open in the stage that it was
 * judged in: the scan must be judged again.
 */
export async function recordScan(
  scope: Scope,
  queue: Queue,
  scan: Scan,
  item: ItemRow | null,
  verdict: ScanVerdict,
  why = '',
): Promise<boolean> {
  const { input, facts, payload } = scan
  const rows = await scope.db.query(
    insertHistoryEntry({
      ...changeParams(scope, queue),
      itemId: item?.id,
      isOpen: item !== null,
      key: input.key,
      kind: 'scanned',
      stage: item?.stage,
      ...facts,
      verdict,
      payload,
      note: [input.note ?? '', why].filter((part) => part !== '').join(': '),
    }),
  )
  return rows.length > 0
}
