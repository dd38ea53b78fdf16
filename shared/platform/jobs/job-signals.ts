import type { Database } from '#shared/platform/db/database.ts'
import { nothing, text } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const notify = statement('jobs.notify', 'select pg_notify($channel, $payload)', {
  params: { channel: text, payload: text },
  columns: { pg_notify: nothing },
})

/** NOTIFY channels by which processes wake each other. */
export const signalChannels = {
  filled: 'kontor_enqueued',
  completed: 'kontor_completed',
  paused: 'kontor_paused',
  numbered: 'kontor_numbered',
} as const

/** The signal that events wait for their numbers. With a slash and the id of a workspace it says whose events. */
export const inboxSignal = 'events'

/** Milliseconds for which signals are collected and then sent together; short compared to any wait of a caller. */
const collectMs = 2

/** Shortest time between two signals of `signalOften`, in milliseconds. */
const oftenMs = 100

/** The most names in one notification, whose payload PostgreSQL limits to 8,000 bytes. */
const namesPerNotification = 150

/**
 * Notifies other processes, after the commit, of filled queues, completed operations and numbered events. A NOTIFY inside the committing transaction
 * serialises commits (1,075 sends per second against 2,852), so a process collects signals for a few milliseconds and sends one.
 */
export class JobSignals {
  readonly #database: Database
  readonly #collected = new Map<string, Set<string>>()
  #timer: NodeJS.Timeout | undefined
  /** Names that `signalOften` signalled lately, and whether it was called again since. */
  readonly #recent = new Map<string, { again: boolean; readonly timer: NodeJS.Timeout }>()

  constructor(database: Database) {
    this.#database = database
  }

  /** Signals that a queue, or the queues of a gate, may have new jobs. */
  signalJobs(queue: string): void {
    this.#collect(signalChannels.filled, queue)
  }

  /**
   * Signals a queue that is filled all the time: at once, and then at most every 100 ms. Else a process with 2,000 changes a second sends
   * 400 notifications a second.
   */
  signalOften(queue: string): void {
    const recent = this.#recent.get(queue)
    if (recent) {
      recent.again = true
      return
    }
    this.signalJobs(queue)
    const timer = setTimeout(() => {
      const again = this.#recent.get(queue)?.again
      this.#recent.delete(queue)
      if (again) this.signalOften(queue)
    }, oftenMs)
    this.#recent.set(queue, { again: false, timer })
  }

  /** Signals that an operation is done or failed, and that the queue of its continuation (null for none) may have a new job. */
  signalCompletion(operationId: string, continuationQueue: string | null): void {
    this.#collect(signalChannels.completed, operationId)
    if (continuationQueue !== null) this.signalJobs(continuationQueue)
  }

  /** Signals as `signalCompletion` that an operation has failed, which is an event, too. */
  signalFailure(operationId: string, continuationQueue: string | null): void {
    this.signalCompletion(operationId, continuationQueue)
    this.signalOften(inboxSignal)
  }

  /** Signals that a workspace has new numbered events. */
  signalNumbered(workspaceId: string): void {
    this.#collect(signalChannels.numbered, workspaceId)
  }

  /** Sends the collected signals, also those that were held back. */
  async close(): Promise<void> {
    for (const [queue, { again, timer }] of this.#recent) {
      clearTimeout(timer)
      if (again) this.signalJobs(queue)
    }
    this.#recent.clear()
    await this.flush()
  }

  /** Sends the collected signals. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const collected = [...this.#collected]
    this.#collected.clear()
    for (const [channel, names] of collected) {
      for (const payload of inGroups([...names])) {
        // A lost signal delays its receivers until their next poll, but loses no work.
        await this.#database.query(notify({ channel, payload })).catch(() => undefined)
      }
    }
  }

  #collect(channel: string, name: string): void {
    const names = this.#collected.get(channel) ?? new Set()
    names.add(name)
    this.#collected.set(channel, names)
    this.#timer ??= setTimeout(() => void this.flush(), collectMs)
  }
}

function inGroups(names: readonly string[]): string[] {
  const groups: string[] = []
  for (let start = 0; start < names.length; start += namesPerNotification)
    groups.push(names.slice(start, start + namesPerNotification).join(' '))
  return groups
}
