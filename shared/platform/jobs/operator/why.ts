import type { Executor } from '#shared/platform/db/database.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'
import { listPauses } from '#shared/platform/jobs/pauses/store.ts'
import type { DescribedJob } from '#shared/platform/jobs/pgboss/operator/describe.ts'
import { countPools, countRunning, countTaken } from '#shared/platform/jobs/pgboss/operator/why-store.ts'

/** Finds why each of these jobs waits or is held; jobs that run or have ended are left out. */
export async function findReasons(
  db: Pick<Executor, 'query'>,
  jobs: ReadonlyMap<string, AnyJob>,
  described: readonly DescribedJob[],
): Promise<ReadonlyMap<string, string>> {
  const open = described.filter(({ state }) => state === 'waiting' || state === 'held')
  if (open.length === 0) return new Map()
  const pools = new Map((await db.query(countPools())).map(({ pool, processes }) => [pool, processes]))
  const paused = new Set((await listPauses(db)).flatMap(({ kinds }) => kinds))
  const running = await db.query(countRunning([...new Set(open.map(({ name }) => name))]))
  const gated = open.filter(({ gate }) => gate !== null)
  const taken =
    gated.length === 0
      ? []
      : await db.query(
          countTaken(
            gated.map(({ workspace_id }) => workspace_id),
            gated.map(({ gate }) => gate),
          ),
        )

  const reasonOf = ({ name, state, workspace_id, start_after, gate, slots, is_deferred }: DescribedJob): string => {
    const job = jobs.get(name)
    if (is_deferred) return 'suspended'
    if (state === 'held') return `held until ${start_after}`
    if (paused.has(name)) return 'paused'
    const processes = job ? (pools.get(job.pool) ?? 0) : 0
    if (job && processes === 0) return `no worker of pool ${job.pool}`
    const held = gate === null ? 0 : (taken.find((one) => one.workspace_id === workspace_id && one.gate === gate)?.taken ?? 0)
    if (slots !== null && held >= slots) return `its workspace has ${held} of ${slots}`
    if (!job || gate !== null) return behind
    const ofKind = running.filter((one) => one.name === name)
    const own = ofKind.find((one) => one.workspace_id === workspace_id)?.running ?? 0
    const most = (job.slotsPerWorkspace ?? job.concurrency) * processes
    if (job.slotsPerWorkspace !== undefined && own >= most) return `its workspace has ${own} of ${most}`
    return ofKind.reduce((sum, one) => sum + one.running, 0) >= job.concurrency * processes ? 'gate' : behind
  }
  return new Map(open.map((one) => [one.id, reasonOf(one)]))
}

const behind = 'others are before it'
