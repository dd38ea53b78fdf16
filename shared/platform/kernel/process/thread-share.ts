/** Maximum time in milliseconds that a computation holds the thread before it yields (page "Beyond", section 2, allows 10). */
export const sliceMs = 2

/** Running requests and attempts of this process, including those that compute: all, and those of each workspace. */
let runningCalls = 0
const runningByWorkspace = new Map<string, number>()

function countRunning(workspaceId: string | undefined, change: 1 | -1): void {
  runningCalls += change
  if (workspaceId === undefined) return
  noteCall(workspaceId)
  const running = (runningByWorkspace.get(workspaceId) ?? 0) + change
  if (running === 0) runningByWorkspace.delete(workspaceId)
  else runningByWorkspace.set(workspaceId, running)
}

/** Milliseconds for which a workspace still counts as a caller after its last call began or ended (page "Beyond", section 2). */
const recentMs = 1_000

interface LastCall {
  readonly workspaceId: string | undefined
  at: number
}

/** The workspace that called last, and the last other one. */
let lastCalls: readonly [LastCall, LastCall] = [
  { workspaceId: undefined, at: Number.NEGATIVE_INFINITY },
  { workspaceId: undefined, at: Number.NEGATIVE_INFINITY },
]

function noteCall(workspaceId: string): void {
  const [last] = lastCalls
  const at = performance.now()
  if (last.workspaceId === workspaceId) last.at = at
  else lastCalls = [{ workspaceId, at }, last]
}

/** Whether another workspace has a running call, or had one within the last second. */
export function othersCalled(workspaceId: string): boolean {
  if (runningByWorkspace.size > (runningByWorkspace.has(workspaceId) ? 1 : 0)) return true
  const [last, other] = lastCalls
  return performance.now() - (last.workspaceId === workspaceId ? other : last).at < recentMs
}

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
 * Counts a request or an attempt as running until the returned function is called. While calls of others run, computations of a workspace
 * leave most of the thread to them. A call without a workspace is one of others for every workspace.
 */
export function trackCall(workspaceId?: string): () => void {
  let isCounted = true
  countRunning(workspaceId, 1)
  return () => {
    if (isCounted) countRunning(workspaceId, -1)
    isCounted = false
  }
}

/**
 * Awaits something, such as an operation, within a counted call. Meanwhile the call does not count as running, because it needs no thread.
 */
export async function waitUntracked<T>(workspaceId: string | undefined, wait: () => Promise<T>): Promise<T> {
  countRunning(workspaceId, -1)
  try {
    return await wait()
  } finally {
    countRunning(workspaceId, 1)
  }
}

/**
 * Yields the thread after it was held for `sliceLengthMs`, and resolves when the workspace may compute again. One computation of the
 * process resumes per turn of the event loop, so input and output are served between two slices. While calls of others are under way, the
 * next slice begins after a pause of eight times the last one, which leaves eight ninths of the thread to them.
 */
function waitForNextSlice(workspaceId: string, sliceLengthMs: number): Promise<void> {
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
  if (othersRun()) setTimeout(resumeNext, Math.max(1, 8 * lastSliceMs))
  else setImmediate(resumeNext)
}

/** Whether calls of others run than of the workspace whose computation is next. Waiting computations of others do not run. */
function othersRun(): boolean {
  const [next] = waiting
  if (!next) return false
  const [workspaceId, queue] = next
  return runningCalls - (runningByWorkspace.get(workspaceId) ?? queue.length) > waitingCount - queue.length
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

/** Yields the thread if computations have held it for a slice. Call it between pieces of work that take under 10 ms each. */
export async function pauseWhenDue(workspaceId: string): Promise<void> {
  const held = threadHeldMs()
  if (held < sliceMs) return
  await waitForNextSlice(workspaceId, held)
  threadHeldMs()
}
