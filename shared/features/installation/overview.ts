import type { Overview } from '#shared/features/installation/schemas.ts'
import { readDatabaseLoad } from '#shared/features/installation/store.ts'
import { countRecentDeliveries, countWebhooks, findOldestWaiting } from '#shared/features/webhooks/metrics-store.ts'
import type { Blobs } from '#shared/platform/blobs/blobs.ts'
import { type Executor, firstRow } from '#shared/platform/db/database.ts'
import { countConnections, listProcesses } from '#shared/platform/db/processes/store.ts'
import { readInboxDepth } from '#shared/platform/events/depth-store.ts'
import { countStreams } from '#shared/platform/events/streams-store.ts'
import { countEndedByMinute } from '#shared/platform/jobs/figures/store.ts'
import { findQueueDepths } from '#shared/platform/jobs/pgboss/counts/queue-depths.ts'
import { findStoppedJobs } from '#shared/platform/jobs/pgboss/counts/stopped-jobs.ts'
import { hourMs, minuteMs } from '#shared/platform/kernel/time/units.ts'
import { findMailCounts } from '#shared/platform/mail/counts-store.ts'

/** How many minutes are shown. */
const shownMinutes = 60

/** Reads the state of the installation. Jobs and mails were counted some seconds ago, so a look costs the same whatever is kept. */
export async function readOverview({ db, blobs, now }: { db: Executor; blobs: Blobs; now: () => Date }): Promise<Overview> {
  const depths = await findQueueDepths(db)
  const stopped = await findStoppedJobs(db)
  const processes = await db.query(listProcesses())
  const { byName, limit } = await countConnections(db)
  const load = await firstRow(db, readDatabaseLoad())
  const backlog = await firstRow(db, findMailCounts())
  const inbox = await firstRow(db, readInboxDepth())
  const streams = await firstRow(db, countStreams({ now: now() }))
  const webhooks = await db.query(countWebhooks())
  const deliveries = await db.query(countRecentDeliveries({ since: new Date(now().getTime() - hourMs) }))
  const oldestDelivery = await firstRow(db, findOldestWaiting({ now: now() }))
  const found = await blobs.check()
  return {
    jobs: {
      waiting: sum(depths, ({ waiting, delayed }) => waiting - delayed),
      held: sum(stopped, ({ held }) => held) + sum(depths, ({ delayed }) => delayed),
      running: sum(depths, ({ running }) => running),
      failed: sum(stopped, ({ failed }) => failed),
    },
    oldest_seconds: Math.round(Math.max(0, ...depths.map(({ oldestSeconds }) => oldestSeconds))),
    finished_by_minute: await countFinished(db, now()),
    processes: {
      api: processes.filter(({ kind, dead }) => kind === 'api' && !dead).length,
      worker: processes.filter(({ kind, dead }) => kind === 'worker' && !dead).length,
      dead: processes.filter(({ dead }) => dead).length,
    },
    database: {
      connections: sum(byName, ({ count }) => count),
      max_connections: limit,
      size_bytes: load?.size_bytes ?? 0,
      slow_statements: load?.slow_statements ?? 0,
    },
    store: { kind: blobs.kind, fault: found ? ('foreign' in found ? found.foreign : found.away) : null },
    feed: { waiting: inbox?.waiting ?? 0, lag_ms: Math.round(1_000 * (inbox?.oldestSeconds ?? 0)) },
    streams: streams?.count ?? 0,
    webhooks: {
      active: countOf(webhooks, 'active'),
      failing: countOf(webhooks, 'failing'),
      disabled: countOf(webhooks, 'disabled'),
      oldest_seconds: Math.round(Math.max(0, oldestDelivery?.seconds ?? 0)),
      waiting: countOf(deliveries, 'waiting'),
      delivered: countOf(deliveries, 'delivered'),
      failed: countOf(deliveries, 'failed'),
    },
    mail: {
      waiting: backlog?.waiting ?? 0,
      oldest: backlog?.oldest ?? null,
      uncertain: backlog?.uncertain ?? 0,
      failed_day: backlog?.failed_day ?? 0,
    },
  }
}

/** Jobs that ended in each of the last whole minutes before `now`. */
async function countFinished(db: Executor, now: Date): Promise<number[]> {
  const end = Math.floor(now.getTime() / minuteMs) * minuteMs
  const start = end - shownMinutes * minuteMs
  const counts = Array.from({ length: shownMinutes }, () => 0)
  for (const { minute, done } of await db.query(countEndedByMinute({ since: new Date(start) }))) {
    const place = (Date.parse(minute) - start) / minuteMs
    if (place < shownMinutes) counts[place] = done
  }
  return counts
}

const countOf = (rows: readonly { status: string; count: number }[], status: string): number =>
  rows.find((row) => row.status === status)?.count ?? 0

const sum = <T>(rows: readonly T[], of: (row: T) => number): number => rows.reduce((total, row) => total + of(row), 0)
