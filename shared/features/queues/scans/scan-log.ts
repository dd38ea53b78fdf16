import type { Scope } from '#shared/core/scope/scope.ts'
import { requireEnabled, serializePayload } from '#shared/features/queues/definitions/load.ts'
import type { Queue } from '#shared/features/queues/definitions/schemas.ts'
import type { ScanFacts } from '#shared/features/queues/items/change-params.ts'
import { findItemViews, findOpenItem } from '#shared/features/queues/items/find.ts'
import { withItemAccess } from '#shared/features/queues/items/item-access.ts'
import { type ItemRow, type LoggedScan, type ScanVerdict, type ScanVerdictView, viewOfItem } from '#shared/features/queues/items/schemas.ts'
import { findScans, type ScanRow } from '#shared/features/queues/items/store.ts'
import {
  changingItem,
  judgeLoggedScan,
  type LoggedVerdict,
  maxAttempts,
  readScannedKey,
  recordScan,
} from '#shared/features/queues/scans/scan.ts'
import { uniqueViolation } from '#shared/platform/db/database-errors.ts'
import { withSavepoint } from '#shared/platform/db/savepoint.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { toUtcInstant } from '#shared/platform/kernel/time/instant.ts'
import { compareText } from '#shared/platform/kernel/values/text.ts'

/** Result of a logged scan. */
interface LoggedScanResult extends ScanVerdictView {
  readonly scan_id: string
  readonly conflict: boolean
}

interface KnownScan extends ScanRow {
  readonly scan_id: string
  readonly verdict: ScanVerdict
}

/**
 * Judges scans recorded offline, in the order of scanning, each `scan_id` once even when sent again
 * (docs/contract/queues.md#offline-scans). Scans are independent: the failure of one becomes its verdict `blocked`. The verdicts are in the
 * order sent.
 */
export async function judgeScanLog(scope: Scope, queue: Queue, scans: readonly LoggedScan[]): Promise<LoggedScanResult[]> {
  requireEnabled(queue)
  const known = await readKnownScans(scope, queue, [...new Set(scans.map(({ scan_id }) => scan_id))])
  const verdicts = new Map<string, LoggedScanResult>()
  const chronological = [...scans].sort((one, other) => compareText(timeOf(one), timeOf(other)))
  for (const scan of chronological) {
    if (known.has(scan.scan_id) || verdicts.has(scan.scan_id)) continue
    verdicts.set(
      scan.scan_id,
      (await judgeOne(scope, queue, scan)) ?? (await readEarlierVerdicts(scope, queue, [scan.scan_id]))[0] ?? concurrentlyJudged(scan),
    )
  }
  for (const verdict of await readEarlierVerdicts(scope, queue, [...known.keys()], known)) verdicts.set(verdict.scan_id, verdict)
  return scans.map((scan) => verdicts.get(scan.scan_id) ?? concurrentlyJudged(scan))
}

const timeOf = ({ scanned_at }: LoggedScan): string => toUtcInstant(scanned_at) ?? scanned_at

/** Every history entry with a scan id has a verdict. */
const isKnownScan = (row: ScanRow): row is KnownScan => row.scan_id !== null && row.verdict !== null

async function readKnownScans(scope: Scope, queue: Queue, ids: readonly string[]): Promise<Map<string, KnownScan>> {
  const { db, workspace } = scope
  const parameters = { workspaceId: workspace.id, queueId: queue.id, scanIds: ids }
  const rows = await withItemAccess(scope, queue, (itemAccess) => db.query(findScans(itemAccess, parameters)))
  return new Map(rows.filter(isKnownScan).map((row) => [row.scan_id, row]))
}

/** The verdict of one scan; undefined when another request judged it concurrently. */
async function judgeOne(scope: Scope, queue: Queue, scan: LoggedScan): Promise<LoggedScanResult | undefined> {
  const { scan_id, station = null } = scan
  const scannedAt = timeOf(scan)
  const facts = { scanId: scan_id, scannedAt, station }
  try {
    const {
      enteredBefore,
      previous_claim: _,
      ...verdict
    } = await withSavepoint(scope.db, () => judgeLoggedScan(scope, queue, scan, facts)).catch((error: unknown) => {
      if (!(error instanceof Problem) || error.status >= 500) throw error
      return withSavepoint(scope.db, () => recordBlocked(scope, queue, scan, facts, error.message))
    })
    return { scan_id, ...verdict, conflict: enteredBefore !== null && enteredBefore > scannedAt }
  } catch (error) {
    if (uniqueViolation(error) === 'queue_history_scan') return undefined
    throw error
  }
}

/**
 * Records a scan whose judging failed, for example for an unknown stage or a key that the caller may not add, with the verdict `blocked`.
 */
async function recordBlocked(scope: Scope, queue: Queue, scan: LoggedScan, facts: ScanFacts, message: string): Promise<LoggedVerdict> {
  const key = tryRead(() => readScannedKey(scan.key)) ?? ''
  const payload = scan.payload == null ? null : (tryRead(() => serializePayload(scan.payload, 'payload')) ?? null)
  const record = async (row: ItemRow | null): Promise<LoggedVerdict | undefined> => {
    if (!(await recordScan(scope, queue, { input: { key }, facts, payload }, row, 'blocked', message))) return undefined
    const item = row && viewOfItem(queue, row, scope.now())
    return { verdict: 'blocked', message, item, previous_claim: null, enteredBefore: row?.entered_stage_at ?? null }
  }
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const found = key === '' ? undefined : await findOpenItem(scope, queue, key)
    const recorded = await record(found === undefined || found === 'hidden' ? null : found)
    if (recorded) return recorded
  }
  throw changingItem(queue)
}

function tryRead<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Earlier verdicts of scans, with the current state of their items. */
async function readEarlierVerdicts(
  scope: Scope,
  queue: Queue,
  ids: readonly string[],
  rows?: Map<string, KnownScan>,
): Promise<LoggedScanResult[]> {
  if (ids.length === 0) return []
  const known = [...(rows ?? (await readKnownScans(scope, queue, ids))).values()]
  const items = await findItemViews(
    scope,
    queue,
    known.flatMap(({ item_id }) => item_id ?? []),
  )
  return known.map(({ scan_id, item_id, verdict, note, conflict, is_seen }): LoggedScanResult => {
    if (!is_seen) return { scan_id, verdict: 'unknown', message: alreadyJudged, item: null, conflict: false }
    const message = note === '' ? alreadyJudged : `${alreadyJudged}: ${note}`
    return { scan_id, verdict, message, item: (item_id && items.get(item_id)) || null, conflict }
  })
}

const alreadyJudged = 'This scan has already been judged'

/**
 * Answer for a scan whose verdict cannot be read although another request judged it; not expected, since that request has committed by
 * then.
 */
const concurrentlyJudged = ({ scan_id }: LoggedScan): LoggedScanResult => ({
  scan_id,
  verdict: 'blocked',
  message: 'The scan is being judged by another request: send it again',
  item: null,
  conflict: false,
})
