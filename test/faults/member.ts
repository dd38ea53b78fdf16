import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '#scripts/ports.ts'
import { type WorkerPool, workerPools } from '#shared/platform/jobs/job.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import type { Teardown } from '#test/faults/case.ts'
import { eventually } from '#test/support/eventually.ts'
import { end, type NodeProcess, startLauncher } from '#test/support/process.ts'

/** A process of an installation, which restarts on the same port. */
export interface Member {
  /** Its address: of the API, or of a worker's health checks. */
  readonly root: string
  /** The process id at present. */
  readonly pid: number
  /** Whether it runs. */
  readonly lives: boolean
  /** Starts it; resolves with the milliseconds until it was ready. */
  readonly start: () => Promise<number>
  /** Ends it at once with SIGKILL; resolves when it is gone. */
  readonly kill: () => Promise<void>
  /** Sends SIGTERM; resolves with its exit code, null when it was killed. */
  readonly stop: () => Promise<number | null>
  /** Resolves when the process is ready. */
  readonly back: () => Promise<void>
}

export type MemberConfig = Pick<Config, 'databaseUrl' | 'dataDir' | 'secretKey' | 'otherSecretKey'>

type Environment = Readonly<Record<string, string>>

/** An API process. */
export const apiMember = (t: Teardown, config: MemberConfig, name: string, environment: Environment): Promise<Member> =>
  member(t, config, name, ['api'], { ...environment, PORT: '' })

/** A worker process, by default of all pools. */
export const workerMember = (
  t: Teardown,
  config: MemberConfig,
  name: string,
  environment: Environment,
  pools: readonly WorkerPool[] = workerPools,
): Promise<Member> => member(t, config, name, ['worker', `--pools=${pools.join(',')}`], { ...environment, WORKER_PORT: '' })

/** `environment` names the variable of its port, which is chosen here. */
async function member(t: Teardown, config: MemberConfig, name: string, args: readonly string[], environment: Environment): Promise<Member> {
  const port = String(await freePort())
  const root = `http://127.0.0.1:${port}`
  const given = Object.fromEntries(Object.entries(environment).map(([variable, value]) => [variable, value || port]))
  const log = createWriteStream(join(config.dataDir, `${name}.log`), { flags: 'a' })
  t.teardown(() => new Promise((resolve) => log.end(resolve)))
  let child: NodeProcess
  let exit: Promise<number | null>
  const start = async () => {
    const began = performance.now()
    child = await startLauncher(t, { config }, args, { DATABASE_CONNECTIONS: '10', LOG_LEVEL: 'warn', ...given })
    child.stdout.pipe(log, { end: false })
    exit = new Promise((resolve) => child.once('exit', (code) => resolve(code)))
    await ready(root, child)
    return performance.now() - began
  }
  await start()
  return {
    root,
    get pid() {
      return child.pid ?? 0
    },
    get lives() {
      return lives(child)
    },
    start,
    kill: () => end(child),
    stop: () => {
      child.kill('SIGTERM')
      return exit
    },
    back: () => ready(root, child),
  }
}

async function ready(root: string, child: NodeProcess): Promise<void> {
  await eventually(async () => {
    if (await isReady(root)) return true
    if (!lives(child)) throw new Error(`A process ended before it was ready: ${child.spawnargs.join(' ')}`)
    return false
  })
}

const lives = ({ exitCode, signalCode }: NodeProcess): boolean => exitCode === null && signalCode === null

/** Whether a process reports that it and its database are ready. */
export const isReady = (root: string): Promise<boolean> =>
  fetch(`${root}/readyz`, { signal: AbortSignal.timeout(5_000) }).then(
    async (response) => {
      await response.arrayBuffer()
      return response.status === 200
    },
    () => false,
  )
