import type { Executor } from '#shared/db/database.ts'
import { outbox } from '#shared/events/outbox.ts'
import type { Queue } from '#shared/queue/queue.ts'

/** What a statement that changed records says of their dispatch; absent when it changed none. */
export type Outcome = { readonly dispatched: boolean } | undefined

/** Wakes the dispatcher once a change is committed that somebody listens to. */
export function announce({ db, queue }: { readonly db: Executor; readonly queue: Queue }, outcome: Outcome): void {
  if (outcome?.dispatched) db.afterCommit(() => queue.signals.filled(outbox))
}
