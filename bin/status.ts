import { listCrowdedTypes } from '#shared/core/notifications/rules.ts'
import { listLargeRights } from '#shared/core/roles/limits.ts'
import { listLargeForms } from '#shared/features/forms/large-forms.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { readMigrationState } from '#shared/platform/db/migrate.ts'
import { countConnections, listProcesses, type Process } from '#shared/platform/db/processes/store.ts'
import { isHeld } from '#shared/platform/db/restored/restored-copy.ts'
import { listPauses } from '#shared/platform/jobs/pauses/store.ts'
import { countDeadLetters } from '#shared/platform/jobs/pgboss/operator/actions.ts'
import { countQueuedJobs } from '#shared/platform/jobs/pgboss/queue-loads.ts'
import { readMailBacklog } from '#shared/platform/mail/counts-store.ts'
import type { CommandScope } from './command-scope.ts'
import { formatTable } from './table.ts'

/** A part of `kontor status`: `data` for `--json`, and a line for each thing that was found. */
interface StatusSection {
  /** Its key in the output of `--json`. */
  readonly key: string
  readonly title: string
  readonly find: (platform: CommandScope) => Promise<{ readonly data: unknown; readonly lines: readonly string[] }>
}

/** A clock that is wrong by more than this, in milliseconds, is named. */
const maxSkewMs = 5_000

/** The parts of `kontor status`, in their order. */
export const statusSections: readonly StatusSection[] = [
  {
    key: 'processes',
    title: 'Processes',
    find: async ({ db, now }) => {
      const processes = await db.query(listProcesses())
      const rows = processes.map((process) => processCells(process, now()))
      const jobs = processes.flatMap(({ host, pid, running, dead }) =>
        running.map(({ job, id, workspace_id, since }) =>
          [`${host}:${pid}`, dead ? 'ran' : 'runs', job, id, workspace_id ?? '(no workspace)', `since ${since}`].join('  '),
        ),
      )
      return { data: processes, lines: [...formatTable(rows), ...jobs] }
    },
  },
  {
    key: 'migrations',
    title: 'Migrations',
    find: async ({ db }) => {
      const state = await readMigrationState(db)
      const missing = state.missing.map((name) => `missing: ${name} (kontor migrate applies it)`)
      return { data: state, lines: [`newest applied: ${state.newest}`, ...missing] }
    },
  },
  {
    key: 'database',
    title: 'Database connections',
    find: async ({ db }) => {
      const { byName, limit } = await countConnections(db)
      const held = await isHeld(db)
      const open = byName.reduce((sum, { count }) => sum + count, 0)
      const hold = held ? ['RESTORED COPY: sends no mail and calls nobody until `bin/kontor restored --live`'] : []
      return {
        data: { open, limit, by_name: byName, held },
        lines: [...hold, `${open} of ${limit}`, ...byName.map(({ name, count }) => `${count}  ${name}`)],
      }
    },
  },
  {
    key: 'store',
    title: 'File store',
    find: async ({ blobs }) => {
      const found = await blobs.check()
      const fault = found && ('foreign' in found ? found.foreign : found.away)
      return { data: { kind: blobs.kind, fault: fault ?? null }, lines: [`${blobs.kind}: ${fault ?? 'answers'}`] }
    },
  },
  {
    key: 'mail',
    title: 'Mail',
    find: async ({ db, config }) => {
      const backlog = await firstRow(db, readMailBacklog())
      const { waiting = 0, oldest = null, uncertain = 0, failed_day = 0 } = backlog ?? {}
      const way = config.smtpUrl === null ? 'no server: mails are files below DATA_DIR' : `by ${new URL(config.smtpUrl).host}`
      const lines = [
        `${waiting} waiting${oldest ? ` since ${oldest}` : ''}, ${uncertain} uncertain, ${failed_day} failed in the last day; ${way}`,
      ]
      return { data: { waiting, oldest, uncertain, failed_day }, lines }
    },
  },
  {
    key: 'jobs',
    title: 'Jobs',
    find: async ({ db }) => {
      const loads = await countQueuedJobs(db)
      const sum = (state: 'waiting' | 'running') => loads.reduce((total, load) => total + load[state], 0)
      const failed = (await firstRow(db, countDeadLetters()))?.count ?? 0
      const data = { waiting: sum('waiting'), running: sum('running'), failed, paused: await listPauses(db) }
      const loadLine = `${data.waiting} waiting, ${data.running} running, ${failed} failed; kontor jobs list shows them`
      const pauseLines = data.paused.map(({ target, name, paused_at }) => `PAUSED: ${target} ${name}, since ${paused_at}`)
      return { data, lines: [loadLine, ...pauseLines] }
    },
  },
  {
    key: 'above_limits',
    title: 'Larger than a limit allows, as an earlier release left it',
    find: async ({ db }) => {
      const lines = [...(await listLargeRights(db)), ...(await listCrowdedTypes(db)), ...(await listLargeForms(db))]
      return { data: lines, lines }
    },
  },
]

function processCells(
  { kind, pools, host, pid, release, started_at, heartbeat_at, skew_ms, memory_bytes, dead }: Process,
  now: Date,
): string[] {
  const seconds = Math.max(0, Math.round((now.getTime() - Date.parse(heartbeat_at)) / 1_000))
  return [
    kind === 'api' ? 'api' : `worker ${pools.join(',')}`,
    `${host}:${pid}`,
    `release ${release}`,
    `since ${started_at}`,
    dead ? `DEAD: last heartbeat ${seconds} s ago` : `heartbeat ${seconds} s ago`,
    `${Math.round(memory_bytes / 2 ** 20)} MB`,
    Math.abs(skew_ms) > maxSkewMs ? `CLOCK WRONG by ${(skew_ms / 1_000).toFixed(1)} s` : `clock ${skew_ms} ms`,
  ]
}
