import type { Site } from '#test/faults/site.ts'
import { eventually } from '#test/support/eventually.ts'

/** Resolves when an import and a run of a function have begun and not ended, so that a kill interrupts something. */
export async function untilBusy({ db }: Pick<Site, 'db'>): Promise<void> {
  const running = `select count(distinct job)::integer as kinds from operations where status = 'running'`
  await eventually(async () => ((await db.query<{ kinds: number }>(running)).rows[0]?.kinds ?? 0) >= 2)
}
