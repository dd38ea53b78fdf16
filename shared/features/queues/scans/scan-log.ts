import type { Scope } from '#shared/core/scope/scope.ts'
import { requireEnabled, serializePayload } from '#shared/features/queues/definitions/load.ts'
import type { Queue } from '#shared/features/queues/definitions/schemas.ts'
import { insertHistoryEntry } from '#shared/features/queues/items/change-store.ts'
import { findItemViews, findOpenItem } from '#shared/features/queues/items/find.ts'
import { withItemAccess } from '#shared/features/queues/items/item-access.ts'
import { type LoggedScan, type ScanAnswer, type ScanVerdict, viewOfItem } from '#shared/features/queues/items/schemas.ts'
import { findScans } from '#shared/features/queues/items/store.ts'
import { judgeScan, readScannedKey } from '#shared/features/queues/scans/scan.ts'
import { uniqueViolation } from '#shared/platform/db/database-errors.ts'
import { withSavepoint } from '#shared/platform/db/savepoint.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { toInstant, toUtcInstant } from '#shared/platform/kernel/time/instant.ts'

/** What came of a scan of a journal. */
export interface LoggedScanResult extends ScanAnswer {
  readonly scan_id: string
  readonly conflict: boolean
}

interface Known {
  readonly scan_id: string
  readonly item_id: string | null
  readonly verdict: ScanVerdict
  readonly note: string
  readonly conflict: boolean
  /** Whether the item is in the caller's sight. */
  readonly is_seen: boolean
}

/**
 * Judges scans that a station kept while it could not send them, each once by its `scan_id` however often it is sent, in the order in which
 * they were scanned (decisions, Work queues). Each is done for itself: what would be a failure of one is its `blocked`. The verdicts come in
 * the order sent.
 */
export async function judgeScanLog(scope: Scope, queue: Queue, scans: readonly LoggedScan[]): Promise<LoggedScanResult[]> {
  requireEnabled(queue)
  const known = await knownScans(scope, queue, [...new Set(scans.map(({ scan_id }) => scan_id))])
  const verdicts = new Map<string, LoggedScanResult>()
  const inOrder = [...scans].sort((one, other) => compare(timeOf(one), timeOf(other)))
  for (const scan of inOrder) {
    if (known.has(scan.scan_id) || verdicts.has(scan.scan_id)) continue
    verdicts.set(scan.scan_id, (await judge(scope, queue, scan)) ?? (await repeated(scope, queue, [scan.scan_id]))[0] ?? lost(scan))
  }
  for (const verdict of await repeated(scope, queue, [...known.keys()], known)) verdicts.set(verdict.scan_id, verdict)
  return scans.map((scan) => verdicts.get(scan.scan_id) ?? lost(scan))
}

const timeOf = ({ scanned_at }: LoggedScan): string => toUtcInstant(scanned_at) ?? scanned_at
const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

async function knownScans(scope: Scope, queue: Queue, ids: readonly string[]): Promise<Map<string, Known>> {
  const { db, workspace } = scope
  const rows = await withItemAccess(scope, queue, (sight) => db.query<Known>(findScans(sight, workspace.id, queue.id, ids)))
  return new Map(rows.map((row) => [row.scan_id, row]))
}

/** The verdict of one scan; undefined when somebody else was sending it at the same moment. */
async function judge(scope: Scope, queue: Queue, scan: LoggedScan): Promise<LoggedScanResult | undefined> {
  const { scan_id, station = null } = scan
  const scannedAt = timeOf(scan)
  const facts = { scanId: scan_id, scannedAt, station }
  try {
    const { enteredBefore, ...answer } = await withSavepoint(scope.db, () => judgeScan(scope, queue, scan, facts))
    return { scan_id, ...answer, conflict: enteredBefore !== null && enteredBefore > scannedAt }
  } catch (error) {
    if (uniqueViolation(error) === 'queue_history_scan') return undefined
    if (!(error instanceof Problem) || error.status >= 500) throw error
    return refuse(scope, queue, scan, error.message)
  }
}

/** Writes a scan down that cannot be judged at all: a stage that the queue does not have, a key that its caller may not add. */
async function refuse(scope: Scope, queue: Queue, scan: LoggedScan, message: string): Promise<LoggedScanResult | undefined> {
  const { workspace, cause, now, db } = scope
  const key = readable(() => readScannedKey(scan.key)) ?? ''
  const found = key === '' ? undefined : await findOpenItem(scope, queue, key)
  const item = found === 'hidden' ? undefined : found
  const payload = scan.payload == null ? null : (readable(() => serializePayload(scan.payload, 'payload')) ?? null)
  try {
    await withSavepoint(db, () =>
      db.query(
        insertHistoryEntry(
          ...[workspace.id, queue.id, item?.id ?? null, key, 'scanned', item?.stage ?? null, 'blocked', payload],
          ...[scan.scan_id, timeOf(scan), scan.station ?? null, toInstant(now()), cause.actorId],
          ...[cause.actorId === null ? 'system' : cause.actorType, message],
        ),
      ),
    )
  } catch (error) {
    if (uniqueViolation(error) === 'queue_history_scan') return undefined
    throw error
  }
  const conflict = item !== undefined && item.entered_stage_at > timeOf(scan)
  return { scan_id: scan.scan_id, verdict: 'blocked', message, item: item ? viewOfItem(queue, item, now()) : null, conflict }
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** The verdicts that scans were given before, with their items as they are now. */
async function repeated(scope: Scope, queue: Queue, ids: readonly string[], rows?: Map<string, Known>): Promise<LoggedScanResult[]> {
  if (ids.length === 0) return []
  const known = [...(rows ?? (await knownScans(scope, queue, ids))).values()]
  const items = await findItemViews(
    scope,
    queue,
    known.flatMap(({ item_id }) => item_id ?? []),
  )
  return known.map(({ scan_id, item_id, verdict, note, conflict, is_seen }): LoggedScanResult => {
    if (!is_seen) return { scan_id, verdict: 'unknown', message: judgedBefore, item: null, conflict: false }
    const message = note === '' ? judgedBefore : `${judgedBefore}: ${note}`
    return { scan_id, verdict, message, item: (item_id && items.get(item_id)) || null, conflict }
  })
}

const judgedBefore = 'This scan was judged before'

/** Neither judged nor known: cannot be, for whoever sends the same scan at the same moment has committed it by then. */
const lost = ({ scan_id }: LoggedScan): LoggedScanResult => ({
  scan_id,
  verdict: 'blocked',
  message: 'The scan is being judged by another request: send it again',
  item: null,
  conflict: false,
})
