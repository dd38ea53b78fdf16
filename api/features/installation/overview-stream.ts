import type { EventStream } from '#api/http/reply/event-stream.ts'
import { EventReply } from '#api/http/reply/reply.ts'
import { listLiveSessions } from '#shared/core/operators/sessions.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { readOverview } from '#shared/features/installation/overview.ts'
import { runUnnamed } from '#shared/platform/kernel/process/current-request.ts'
import { countRefusal } from '#shared/platform/kernel/process/part.ts'

/** Milliseconds between two events. */
const everyMs = 1_000

/**
 * Sends the overview to everybody who looks: it is read once for all of them, and not while nobody looks. Each time, the streams of sessions
 * that have ended, and of people who are no operators any more, are closed first.
 */
class OverviewStream {
  readonly #scope: PlatformScope
  /** The session by which each stream was opened. */
  readonly #watchers = new Map<EventStream, string>()
  #isRunning = false
  #isFailing = false

  constructor(scope: PlatformScope) {
    this.#scope = scope
  }

  add(stream: EventStream, sessionId: string): void {
    this.#watchers.set(stream, sessionId)
    stream.onClose(() => this.#watchers.delete(stream))
    if (this.#isRunning) return
    this.#isRunning = true
    void runUnnamed(() => this.#run())
  }

  async #run(): Promise<void> {
    while (this.#watchers.size > 0) {
      const began = performance.now()
      await this.#send()
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, began + everyMs - performance.now())).unref())
    }
    this.#isRunning = false
  }

  /** While the database is away nothing is sent, and the streams stay open: an outage is one line of the log. */
  async #send(): Promise<void> {
    try {
      const live = await listLiveSessions(this.#scope, [...this.#watchers.values()])
      for (const [stream, sessionId] of this.#watchers) {
        if (live.has(sessionId)) continue
        this.#watchers.delete(stream)
        stream.close('rights')
      }
      if (this.#watchers.size === 0) return
      const overview = await readOverview(this.#scope)
      // Only the newest overview matters: who has not taken the one before gets none.
      for (const stream of this.#watchers.keys()) if (stream.waitingBytes === 0) stream.send({ event: 'overview', data: overview })
      this.#isFailing = false
    } catch (error) {
      if (!countRefusal(error) && !this.#isFailing) this.#scope.log.warn({ err: error }, 'could not read the overview for its stream')
      this.#isFailing = true
    }
  }
}

/** The answer to an operator who looks at the overview for as long as its session lasts. */
export function streamOverview(scope: Pick<PlatformScope, 'operatorSessionId' | 'principal'>): EventReply {
  const sessionId = scope.operatorSessionId ?? scope.principal?.sessionId
  if (!sessionId) throw new Error('Only a session opens the stream of the overview')
  return new EventReply('operator', async (shared) => (stream) => shared.of(OverviewStream).add(stream, sessionId))
}
