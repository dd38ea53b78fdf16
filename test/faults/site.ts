import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { Database } from '#shared/platform/db/database.ts'
import { type WorkerPool, workerPools } from '#shared/platform/jobs/job.ts'
import { release } from '#shared/release.ts'
import type { Teardown } from '#test/faults/case.ts'
import { type Cluster, startCluster } from '#test/faults/cluster.ts'
import { apiMember, type Member, type MemberConfig, workerMember } from '#test/faults/member.ts'
import { Client } from '#test/support/client.ts'
import { createOrg, type Org } from '#test/support/factories.ts'
import { openPool } from '#test/support/pool.ts'

/** An installation as in production: a durable database, two APIs and two workers of all pools, unless others are chosen. */
export interface Site {
  readonly config: MemberConfig
  readonly cluster: Cluster
  readonly apis: readonly Member[]
  readonly workers: readonly Member[]
  /** A connection of the case, around all faults. */
  readonly db: pg.Pool
  readonly org: Org
}

/** Options of a site. */
export interface SiteOptions {
  /** The folder of the database, and that of its write-ahead log if it is separate. */
  readonly folders?: { readonly data: string; readonly wal?: string }
  /** The address of the database for the first API and the first worker, if it is not its own. */
  readonly through?: (databaseUrl: string) => Promise<string>
  readonly apiEnvironment?: Readonly<Record<string, string>>
  /** Variables of all processes. */
  readonly environment?: Readonly<Record<string, string>>
  /** Variables of the first API and the first worker. */
  readonly firstEnvironment?: Readonly<Record<string, string>>
  /** The pools of each worker; by default two workers have all of them. */
  readonly workerPools?: readonly (readonly WorkerPool[])[]
}

/** Starts an installation with one workspace; it ends with the case. */
export async function openSite(t: Teardown, options: SiteOptions = {}): Promise<Site> {
  const home = await mkdtemp(join(tmpdir(), 'kontor-faults-'))
  t.teardown(async () => {
    if (t.hasFailed()) console.log(`    What its processes logged lies in ${home}`)
    await rm(t.hasFailed() ? join(home, 'data') : home, { recursive: true, force: true, maxRetries: 10 })
  })
  const cluster = await startCluster(t, options.folders ?? { data: join(home, 'data') })
  await release(cluster.url)
  const config = { databaseUrl: cluster.url, dataDir: home, secretKey: randomBytes(32), otherSecretKey: null }
  const all = options.environment ?? {}
  const first = { ...all, ...options.firstEnvironment, ...(options.through ? { DATABASE_URL: await options.through(cluster.url) } : {}) }
  const given = { ...all, ...options.apiEnvironment }
  const [apis, workers] = await Promise.all([
    Promise.all([apiMember(t, config, 'api-1', { ...given, ...first }), apiMember(t, config, 'api-2', given)]),
    Promise.all(
      (options.workerPools ?? [workerPools, workerPools]).map((pools, index) =>
        workerMember(t, config, `worker-${index + 1}`, index === 0 ? first : all, pools),
      ),
    ),
  ])
  const db = openPool({ connectionString: cluster.url, max: 2 })
  t.teardown(() => db.end())
  return { config, cluster, apis, workers, db, org: await firstOrg(cluster.url, apis) }
}

async function firstOrg(databaseUrl: string, [api]: readonly Member[]): Promise<Org> {
  const database = new Database(databaseUrl, { connections: 2, name: 'faults', statementTimeoutMs: 15_000 })
  try {
    return await createOrg({ api: { services: { database } }, visitor: new Client(api?.root ?? '', null) })
  } finally {
    await database.close()
  }
}
