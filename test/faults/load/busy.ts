import { setTimeout as delay } from 'node:timers/promises'
import type { Site } from '#test/faults/site.ts'

/** Resolves when an import and a run of a function have been begun and not ended: whatever dies now dies in the middle of something. */
export async function untilBusy({ db }: Pick<Site, 'db'>): Promise<void> {
  const running = `select count(distinct job)::integer as kinds from operations where status = 'running'`
  while (((await db.query<{ kinds: number }>(running)).rows[0]?.kinds ?? 0) < 2) await delay(5)
}
