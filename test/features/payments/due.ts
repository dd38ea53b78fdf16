import type { World } from '#test/support/world.ts'

/** Lets everything of a workspace's payments fall due that would within so many minutes, and waits until it is done. */
export async function letDue(w: Pick<World, 'db' | 'org' | 'drain'>, minutes: number): Promise<void> {
  await w.db.query(
    `update due_work set at = 'epoch' where workspace_id = $1 and kind like 'payments.%' and at <= now() + $2 * interval '1 minute'`,
    [w.org.id, minutes],
  )
  await w.drain()
}
