import { runningCalls, runningCallsOf } from '#shared/platform/kernel/process/running-calls.ts'
import { addToFigure } from '#shared/platform/kernel/process/work-figures.ts'
import { shareOf, type WorkOwner } from '#shared/platform/kernel/process/work-owner.ts'

/** Maximum time in milliseconds that a computation holds the thread before it yields (docs/contract/limits.md#computing allows 10). */
export const sliceMs = 2

/** Computations of a share that wait for the thread. Its workspaces take turns. */
interface WaitingShare {
  count: number
  readonly byOwner: Map<string, (() => void)[]>
}

/** Computations that wait for the thread, by share; the shares take turns. Those of nobody have the share ''. */
const waiting = new Map<string, WaitingShare>()
let waitingCount = 0
let isScheduled = false
let lastSliceMs = 0

/** When computing began in this turn of the event loop; undefined until `threadHeldMs` is called. */
let heldSince: number | undefined

/** The computation that was seen last in this turn: its owner, and when its owner was seen first and last. */
let seen: { readonly owner: WorkOwner; readonly since: number; until: number } | undefined

/**
 * Milliseconds for which computations have held the thread in this turn of the event loop. Waiting, such as for the database, ends a turn and
 * does not count. The time between two calls for one owner is added to the owner's figures.
 */
export function threadHeldMs(owner: WorkOwner): number {
  const now = performance.now()
  if (heldSince === undefined) {
    heldSince = now
    setImmediate(endSlice)
  }
  if (seen?.owner === owner) seen.until = now
  else {
    addSeen()
    seen = { owner, since: now, until: now }
  }
  return now - heldSince
}

function endSlice(): void {
  heldSince = undefined
  addSeen()
}

function addSeen(): void {
  if (seen) addToFigure(seen.owner, 'computingMs', seen.until - seen.since)
  seen = undefined
}

/**
 * Yields the thread after it was held for `sliceLengthMs`, and resolves when the owner may compute again. One computation of the
 * process resumes per turn of the event loop, so input and output are served between two slices. While calls of others are under way, the
 * next slice begins after a pause of eight times the last one, which leaves eight ninths of the thread to them.
 */
function waitForNextSlice(owner: WorkOwner, sliceLengthMs: number): Promise<void> {
  lastSliceMs = Math.min(sliceLengthMs, 10)
  return new Promise((resolve) => {
    const key = owner ?? ''
    const share = waiting.get(shareOf(key)) ?? { count: 0, byOwner: new Map<string, (() => void)[]>() }
    waiting.set(shareOf(key), share)
    const queue = share.byOwner.get(key) ?? []
    share.byOwner.set(key, queue)
    queue.push(resolve)
    share.count += 1
    waitingCount += 1
    schedule()
  })
}

function schedule(): void {
  if (isScheduled || waitingCount === 0) return
  isScheduled = true
  if (othersRun()) setTimeout(resumeNext, Math.max(1, 8 * lastSliceMs))
  else setImmediate(resumeNext)
}

/** Whether calls of others run than of the share whose computation is next. Waiting computations of others do not run. */
function othersRun(): boolean {
  const [next] = waiting
  if (!next) return false
  const [name, share] = next
  return runningCalls() - (runningCallsOf(name) ?? share.count) > waitingCount - share.count
}

function resumeNext(): void {
  isScheduled = false
  const [nextShare] = waiting
  const [nextOwner] = nextShare?.[1].byOwner ?? []
  if (!nextShare || !nextOwner) return
  const [name, share] = nextShare
  const [owner, queue] = nextOwner
  const resume = queue.shift()
  share.count -= 1
  waitingCount -= 1
  // The share goes behind the others that wait, and the owner behind the others of its share.
  share.byOwner.delete(owner)
  if (queue.length > 0) share.byOwner.set(owner, queue)
  waiting.delete(name)
  if (share.count > 0) waiting.set(name, share)
  resume?.()
  // The resumed computation runs as a microtask, before this immediate. It may end without waiting again.
  setImmediate(schedule)
}

/**
 * Yields the thread if computations have held it for a slice. Call it between pieces of work that take under 10 ms each. `owner` is for whom
 * it computes (`scope.db.owner`).
 */
export async function pauseWhenDue(owner: WorkOwner): Promise<void> {
  const held = threadHeldMs(owner)
  if (held < sliceMs) return
  await waitForNextSlice(owner, held)
  threadHeldMs(owner)
}
