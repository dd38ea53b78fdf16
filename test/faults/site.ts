import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { Database } from '#shared/platform/db/database.ts'
import { release } from '#shared/release.ts'
import type { Teardown } from '#test/faults/case.ts'
import { type Cluster, startCluster } from '#test/faults/cluster.ts'
import { apiMember, type Member, type MemberConfig, workerMember } from '#test/faults/member.ts'
import { Client } from '#test/support/client.ts'
import { createOrg, type Org } from '#test/support/factories.ts'

/** An installation as it runs in production: a database that keeps what it acknowledges, two APIs and two workers of all pools. */
export interface Site {
  readonly config: MemberConfig
  readonly cluster: Cluster
  readonly apis: readonly Member[]
  readonly workers: readonly Member[]
  /** A connection of the case's own, around everything that is made to fail. */
  readonly db: pg.Pool
  readonly org: Org
}

/** What of a site differs from the usual. */
export interface SiteOptions {
  /** Where the database lies, and the log of its changes if that lies apart. */
  readonly folders?: { readonly data: string; readonly wal?: string }
  /** Where the first API and the first worker find the database, instead of at its own address. */
  readonly through?: (databaseUrl: string) => Promise<string>
  readonly apiEnvironment?: Readonly<Record<string, string>>
  /** Of all processes. */
  readonly environment?: Readonly<Record<string, string>>
  /** Of the first API and the first worker. */
  readonly firstEnvironment?: Readonly<Record<string, string>>
}

/** Starts an installation with one workspace; it is gone with the case. */
export async function openSite(t: Teardown, options: SiteOptions = {}): Promise<Site> {
  const home = await mkdtemp(join(tmpdir(), 'kontor-faults-'))
  t.teardown(async () => {
    if (t.hasFailed()) console.log(`    What its processes logged lies in ${home}`)
    await rm(t.hasFailed() ? join(home, 'data') : home, { recursive: true, force: true, maxRetries: 10 })
  })
  const cluster = await startCluster(t, options.folders ?? { data: join(home, 'data') })
  await release(cluster.url)
  const config = { databaseUrl: cluster.url, dataDir: home, secretKey: randomBytes(32) }
  const all = options.environment ?? {}
  const first = { ...all, ...options.firstEnvironment, ...(options.through ? { DATABASE_URL: await options.through(cluster.url) } : {}) }
  const given = { ...all, ...options.apiEnvironment }
  const [apis, workers] = await Promise.all([
    Promise.all([apiMember(t, config, 'api-1', { ...given, ...first }), apiMember(t, config, 'api-2', given)]),
    Promise.all([workerMember(t, config, 'worker-1', first), workerMember(t, config, 'worker-2', all)]),
  ])
  const db = new pg.Pool({ connectionString: cluster.url, max: 2 })
  db.on('error', () => undefined)
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
