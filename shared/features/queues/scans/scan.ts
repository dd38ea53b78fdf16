import { requirePermission } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { requireEnabled, serializePayload } from '#shared/features/queues/definitions/load.ts'
import { findNextStage, requireStage } from '#shared/features/queues/definitions/read-definition.ts'
import type { Queue, Stage } from '#shared/features/queues/definitions/schemas.ts'
import { addItems, type ScanFacts } from '#shared/features/queues/items/add.ts'
import { insertHistoryEntry } from '#shared/features/queues/items/change-store.ts'
import { findItem, findOpenItem } from '#shared/features/queues/items/find.ts'
import { type MoveRefusal, moveItem, refusalText } from '#shared/features/queues/items/move.ts'
import { type ItemRow, type ScanAnswer, type ScanInput, type ScanVerdict, viewOfItem } from '#shared/features/queues/items/schemas.ts'
import { queueLimits } from '#shared/features/queues/limits.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import { toInstant } from '#shared/platform/kernel/time/instant.ts'

/** A scan's outcome, with the instant at which its item had entered its stage before it. */
export interface ScanResult extends ScanAnswer {
  readonly enteredBefore: string | null
}

/** A scan that came at once, and not out of a journal. */
const live: ScanFacts = { scanId: null, scannedAt: null, station: null }

/** How often a scan is judged anew when somebody else changes its item meanwhile. */
const maxLooks = 10

/**
 * Judges a scanned key: advances the item of that key, makes one, or says why not (document 2, POST scan). Every scan leaves an entry in the
 * history. Throws NOT_FOUND for a stage that the queue does not have, FORBIDDEN where the key is new and its caller may not add,
 * VALIDATION_ERROR for a payload that is too large and a queue that is not enabled.
 */
export async function judgeScan(scope: Scope, queue: Queue, input: ScanInput, facts: ScanFacts = live): Promise<ScanResult> {
  requireEnabled(queue)
  const key = readScannedKey(input.key)
  const payload = input.payload == null ? null : serializePayload(input.payload, 'payload')
  if (input.stage != null) requireStage(queue, input.stage)
  const wanted = input.to_stage == null ? undefined : requireStage(queue, input.to_stage)
  const scan = { input: { ...input, key }, facts, payload, wanted }
  for (let look = 1; look <= maxLooks; look++) {
    const item = await findOpenItem(scope, queue, key)
    if (item === 'hidden') return unknown(scope, queue, scan)
    const judged = item ? await scanKnown(scope, queue, scan, item) : await scanUnknown(scope, queue, scan)
    if (judged) return judged
  }
  throw problem('INTERNAL', undefined, { cause: new Error(`the item of ${queue.key} kept changing while it was scanned`) })
}

/** Without the one line end or tab that a scanner types behind a key; throws VALIDATION_ERROR when nothing else is there. */
export function readScannedKey(text: string): string {
  const key = text.replace(/(?:\r\n|\r|\n|\t)$/, '')
  if (key === '') throw problem('VALIDATION_ERROR', 'key must have at least 1 characters')
  if ([...key].length > queueLimits.keyCharacters)
    throw problem('VALIDATION_ERROR', `key must have at most ${queueLimits.keyCharacters} characters`)
  return key
}

interface Scan {
  readonly input: ScanInput
  readonly facts: ScanFacts
  /** JSON text, or null. */
  readonly payload: string | null
  readonly wanted: Stage | undefined
}

/** Undefined when the item changed while it was judged. */
async function scanKnown(scope: Scope, queue: Queue, scan: Scan, item: ItemRow): Promise<ScanResult | undefined> {
  const { input, facts, payload, wanted } = scan
  const to = wanted ?? findNextStage(queue, item.stage)
  const told = (verdict: ScanVerdict, message: string, row: ItemRow): ScanResult => ({
    verdict,
    message,
    item: viewOfItem(queue, row, scope.now()),
    enteredBefore: item.entered_stage_at,
  })
  if (!to || to.key === item.stage) {
    const here = to ?? requireStage(queue, item.stage)
    await note(scope, queue, scan, item, 'duplicate')
    return told('duplicate', `${input.key} is in ${here.label} already`, item)
  }
  try {
    const { note: words, claim_token: claimToken } = input
    const moved = await moveItem(scope, queue, item.id, { to, note: words, claimToken, scan: { ...facts, payload }, version: item.version })
    if (!moved || again.has(moved.refusal)) return undefined
    if (moved.refusal === null) return told('moved', `${input.key} moved to ${to.label}`, moved.item)
    return await blocked(refusalText(moved.refusal, moved.item, to), moved.item)
  } catch (error) {
    // The record patch was refused: the item stays where it is.
    if (!(error instanceof Problem) || error.status >= 500 || to.record_patch === null) throw error
    return blocked(error.message, item)
  }

  async function blocked(message: string, row: ItemRow): Promise<ScanResult> {
    await note(scope, queue, scan, row, 'blocked', message)
    return told('blocked', message, row)
  }
}

/** Refusals after which the item is looked at anew: a closed one leaves its key to be new. */
const again: ReadonlySet<MoveRefusal | null> = new Set<MoveRefusal | null>(['changed', 'closed'])

/** Undefined when somebody else made the item meanwhile. */
async function scanUnknown(scope: Scope, queue: Queue, scan: Scan): Promise<ScanResult | undefined> {
  const { input, facts, wanted } = scan
  if (queue.settings.on_unknown_scan === 'reject') return unknown(scope, queue, scan)
  requirePermission(scope, 'queues:enqueue', queue.key)
  const item = { key: input.key, stage: wanted?.key ?? input.stage ?? null, batch: input.batch ?? null, payload: input.payload ?? null }
  const { items } = await addItems(scope, { ...queue, settings: { ...queue.settings, allow_duplicates: false } }, [item], {
    source: 'scan',
    note: input.note,
    scan: facts,
  })
  const [made] = items
  if (!made || made.duplicate || made.id === null || made.stage === null) return undefined
  const row = await findItem(scope, queue, made.id)
  const view = row ? viewOfItem(queue, row, scope.now()) : null
  return { verdict: 'created', message: `${input.key} added to ${requireStage(queue, made.stage).label}`, item: view, enteredBefore: null }
}

/** Also of a key whose item is hidden from the caller: the entry names no item. */
async function unknown(scope: Scope, queue: Queue, scan: Scan): Promise<ScanResult> {
  await note(scope, queue, scan, null, 'unknown')
  return { verdict: 'unknown', message: `${scan.input.key} is not in ${queue.name}`, item: null, enteredBefore: null }
}

/** Writes down a scan that moved and made nothing. */
async function note(scope: Scope, queue: Queue, scan: Scan, item: ItemRow | null, verdict: ScanVerdict, why = ''): Promise<void> {
  const { workspace, cause, now, db } = scope
  const { input, facts, payload } = scan
  await db.query(
    insertHistoryEntry(
      ...[workspace.id, queue.id, item?.id ?? null, input.key, 'scanned', item?.stage ?? null, verdict, payload],
      ...[facts.scanId, facts.scannedAt, facts.station, toInstant(now()), cause.actorId],
      ...[cause.actorId === null ? 'system' : cause.actorType, [input.note ?? '', why].filter((part) => part !== '').join(': ')],
    ),
  )
}
