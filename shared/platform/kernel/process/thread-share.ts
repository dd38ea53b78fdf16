/** Maximum time in milliseconds that a computation holds the thread before it yields (page "Beyond", section 2, allows 10). */
export const sliceMs = 2

/** Running requests and attempts of this process, including those that compute. */
let runningCalls = 0

/** Computations that wait for the thread, by workspace; the workspaces take turns. */
const waiting = new Map<string, (() => void)[]>()
let waitingCount = 0
let isScheduled = false
let lastSliceMs = 0

/** When computing began in this turn of the event loop; undefined until `threadHeldMs` is called. */
let heldSince: number | undefined

/**
 * Milliseconds for which computations have held the thread in this turn of the event loop. Waiting, such as for the database, ends a turn and
 * does not count.
 */
export function threadHeldMs(): number {
  const now = performance.now()
  if (heldSince === undefined) {
    heldSince = now
    setImmediate(endSlice)
  }
  return now - heldSince
}

function endSlice(): void {
  heldSince = undefined
}

/**
 * Counts a request or an attempt as running until the returned function is called. While others run, computations leave most of the thread
 * to them.
 */
export function trackCall(): () => void {
  let counted = 1
  runningCalls += counted
  return () => {
    runningCalls -= counted
    counted = 0
  }
}

/**
 * Awaits something, such as an operation, within a counted call. Meanwhile the call does not count as running, because it needs no thread.
 */
export async function waitUntracked<T>(wait: () => Promise<T>): Promise<T> {
  runningCalls -= 1
  try {
    return await wait()
  } finally {
    runningCalls += 1
  }
}

/**
 * Yields the thread after it was held for `sliceLengthMs`, and resolves when the workspace may compute again. One computation of the
 * process resumes per turn of the event loop, so input and output are served between two slices. While other calls are under way, the next
 * slice begins after a pause of eight times the last one, which leaves eight ninths of the thread to them.
 */
export function waitForNextSlice(workspaceId: string, sliceLengthMs: number): Promise<void> {
  lastSliceMs = Math.min(sliceLengthMs, 10)
  return new Promise((resolve) => {
    const queue = waiting.get(workspaceId) ?? []
    waiting.set(workspaceId, queue)
    queue.push(resolve)
    waitingCount += 1
    schedule()
  })
}

function schedule(): void {
  if (isScheduled || waitingCount === 0) return
  isScheduled = true
  // Each waiting computation belongs to a running call, so a higher number means that other calls run as well.
  if (runningCalls > waitingCount) setTimeout(resumeNext, Math.max(1, 8 * lastSliceMs))
  else setImmediate(resumeNext)
}

function resumeNext(): void {
  isScheduled = false
  const [first] = waiting
  if (!first) return
  const [workspaceId, queue] = first
  const resume = queue.shift()
  waitingCount -= 1
  // The workspace goes behind the others that wait.
  waiting.delete(workspaceId)
  if (queue.length > 0) waiting.set(workspaceId, queue)
  resume?.()
  // The resumed computation runs as a microtask, before this immediate. It may end without waiting again.
  setImmediate(schedule)
}
