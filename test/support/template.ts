import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { jobs } from '#shared/features.ts'
import { release } from '#shared/release.ts'
import { distribute, dropFromWorkers } from '#test/support/citus.ts'

const admin = process.env.TEST_DATABASE_URL ?? ''
const template = `kontor_template_${contentsOfRelease()}`
const lock = 481_516_234

/** A database of the test, cloned from the migrated template in some 40 ms. The first caller of a run creates the template. */
export async function cloneTemplate(name: string): Promise<{ readonly name: string; readonly url: string }> {
  await asAdmin(async (client) => {
    await client.query('select pg_advisory_lock($1)', [lock])
    try {
      const { rows } = await client.query('select from pg_database where datname = $1', [template])
      if (rows.length === 0) await makeTemplate(client)
      await client.query(`create database ${client.escapeIdentifier(name)} template ${template} strategy file_copy`)
    } finally {
      await client.query('select pg_advisory_unlock($1)', [lock])
    }
  })
  await distribute(urlOf(name))
  return { name, url: urlOf(name) }
}

/** An empty database of the test without any table. */
export async function emptyDatabase(name: string): Promise<{ readonly name: string; readonly url: string }> {
  await asAdmin(async (client) => void (await client.query(`create database ${client.escapeIdentifier(name)} template template0`)))
  return { name, url: urlOf(name) }
}

export async function dropDatabase(name: string): Promise<void> {
  await asAdmin(async (client) => void (await client.query(`drop database if exists ${client.escapeIdentifier(name)} with (force)`)))
  await dropFromWorkers(admin, name)
}

/** The template gets its name only when it is complete, so a killed run leaves no partial one. */
async function makeTemplate(client: pg.Client): Promise<void> {
  const draft = `${template}_draft`
  await client.query(`drop database if exists ${draft} with (force)`)
  await client.query(`create database ${draft} template template0`)
  await release(urlOf(draft))
  await client.query(`alter database ${draft} rename to ${template}`)
}

/** A digest of everything that a release puts into a database, so that a server that outlives a change of it gets another template. */
function contentsOfRelease(): string {
  const folder = join(import.meta.dirname, '..', '..', 'migrations')
  const hash = createHash('sha256').update(JSON.stringify(jobs.map(({ name, retry, timeoutSeconds }) => [name, retry, timeoutSeconds])))
  for (const file of readdirSync(folder).sort()) hash.update(file.endsWith('.ts') ? readFileSync(join(folder, file)) : '')
  return hash.digest('hex').slice(0, 12)
}

async function asAdmin(work: (client: pg.Client) => Promise<void>): Promise<void> {
  if (!admin) throw new Error('TEST_DATABASE_URL must name a cluster that tests may make databases in; npm test starts one')
  const client = new pg.Client({ connectionString: admin })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}

function urlOf(name: string): string {
  const url = new URL(admin)
  url.pathname = `/${name}`
  return url.href
}
