import type { Database } from '#shared/platform/db/database.ts'

/** Channels on which processes wake each other. */
export const signalChannels = { filled: 'kontor_filled', settled: 'kontor_settled' } as const

/** Long enough to gather what one burst fills, short against everything that somebody waits for. */
const gatherMs = 2

/** Names in one notification; PostgreSQL takes 8,000 bytes. */
const namesPerNotification = 150

/**
 * Tells other processes, after the commit, which queues were filled and which operations settled. A NOTIFY inside the committing
 * transaction serialises commits (1,075 sends a second against 2,852), so a process gathers a few milliseconds and sends one.
 */
export class JobSignals {
  readonly #database: Database
  readonly #gathered = new Map<string, Set<string>>()
  #timer: NodeJS.Timeout | undefined

  constructor(database: Database) {
    this.#database = database
  }

  /** A queue has new jobs, or the queues of a gate may have. */
  signalJobs(queue: string): void {
    this.#gather(signalChannels.filled, queue)
  }

  /** An operation is done or failed, and what goes on after it waits in a queue, null for none. */
  signalCompletion(operationId: string, continues: string | null): void {
    this.#gather(signalChannels.settled, operationId)
    if (continues !== null) this.signalJobs(continues)
  }

  /** Sends what is gathered now. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const gathered = [...this.#gathered]
    this.#gathered.clear()
    for (const [channel, names] of gathered) {
      for (const payload of inLots([...names])) {
        // A lost signal costs a poll, never an answer.
        await this.#database.query({ name: 'signal', text: 'select pg_notify($1, $2)', values: [channel, payload] }).catch(() => undefined)
      }
    }
  }

  #gather(channel: string, name: string): void {
    const names = this.#gathered.get(channel) ?? new Set()
    names.add(name)
    this.#gathered.set(channel, names)
    this.#timer ??= setTimeout(() => void this.flush(), gatherMs)
  }
}

function inLots(names: readonly string[]): string[] {
  const lots: string[] = []
  for (let start = 0; start < names.length; start += namesPerNotification)
    lots.push(names.slice(start, start + namesPerNotification).join(' '))
  return lots
}
