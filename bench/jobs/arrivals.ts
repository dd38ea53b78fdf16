import { setTimeout as delay } from 'node:timers/promises'
import type { Side } from '#bench/case.ts'
import { sideOf } from '#bench/load.ts'
import type { Executor } from '#shared/platform/db/database.ts'

/** Pauses between two creations, and between two polls. */
const [pauseMs, pollMs] = [50, 4]

/** Creates records for some seconds and measures the time until each notification arrives. `amount` is notifications per second. */
export async function arrivals(
  db: Executor,
  workspaceId: string,
  create: () => Promise<{ readonly id: string }>,
  seconds: number,
): Promise<Side> {
  const begun = new Map<string, number>()
  const times: number[] = []
  const started = performance.now()
  let isSending = true
  const polling = poll()
  while (performance.now() - started < seconds * 1_000) {
    const at = performance.now()
    begun.set((await create()).id, at)
    await delay(pauseMs)
  }
  isSending = false
  await polling
  return sideOf(times, (performance.now() - started) / 1_000)

  async function poll(): Promise<void> {
    while (isSending || begun.size > 0) {
      const rows = await db.query<{ record_id: string }>({
        text: 'select record_id from notifications where workspace_id = $1 and record_id = any($2::uuid[])',
        values: [workspaceId, [...begun.keys()]],
      })
      for (const { record_id: id } of rows) {
        times.push(performance.now() - (begun.get(id) ?? Number.NaN))
        begun.delete(id)
      }
      await delay(pollMs)
    }
  }
}
