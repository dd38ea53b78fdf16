import { scheduleKind } from '#shared/features/flows/store.ts'
import type { Schedules } from '#shared/features/installation/schemas.ts'
import { countDueByKind, listSchedules } from '#shared/features/installation/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { maintenanceKindName } from '#shared/platform/due/maintenance.ts'

/** The most schedules that are listed, by their next time. */
const maxListed = 1_000

/** The schedules of flows and the maintenance tasks, by their next time, and how much work of each kind waits for a time, such as reminders. */
export async function describeSchedules(db: Executor): Promise<Schedules> {
  const rows = await db.query(listSchedules({ maintenance: maintenanceKindName, schedule: scheduleKind, limit: maxListed }))
  const schedules = rows.map(({ kind, subject, workspace_id, workspace, next, held, last_at, last_ms, last_status, last_error }) => ({
    kind,
    subject,
    workspace: workspace_id === null ? null : { id: workspace_id, name: workspace },
    next,
    held,
    last: last_at === null ? null : { at: last_at, ms: last_ms, status: last_status ?? '', error: last_error },
  }))
  return { schedules, waiting: await db.query(countDueByKind()) }
}
