import pg from 'pg'
import { lockHeads, numberEvents } from '#shared/platform/events/numbering-store.ts'
import type { Db } from '#test/support/rows.ts'

/** A committed or open transaction of a writer. */
export interface Write {
  /** The step at which it began, and the one at which it had committed; infinite while it has not. */
  readonly beganAt: number
  committedAt: number
  readonly events: { readonly id: string; readonly record: number; readonly version: number }[]
}

/** Creates the records that writers change, and returns the workspace of their events. */
export async function createSubjects(db: Db, count: number): Promise<string> {
  await db.query('create table if not exists subjects (id integer primary key, version integer not null default 0)')
  await db.query('truncate subjects')
  await db.query('insert into subjects (id) select generate_series(0, $1::integer - 1)', [count])
  const { rows } = await db.query<{ id: string }>(
    `insert into workspaces (id, name, owner_id, share_id, plan)
     select uuidv7(), 'Subjects', owner_id, share_id, plan from workspaces limit 1 returning id`,
  )
  return rows[0]?.id ?? ''
}

/** No statement of a step may wait for another actor. */
const openClient = (url: string) => new pg.Client({ connectionString: url, statement_timeout: 5_000 })

/** A writer with a connection of its own, step by step. */
export class Writer {
  readonly #client: pg.Client
  readonly #workspaceId: string
  readonly writes: Write[] = []
  #open: Write | undefined

  constructor(url: string, workspaceId: string) {
    this.#client = openClient(url)
    this.#workspaceId = workspaceId
  }

  connect = () => this.#client.connect()
  end = () => this.#client.end()

  get isOpen(): boolean {
    return this.#open !== undefined
  }

  async begin(step: number): Promise<void> {
    await this.#client.query('begin')
    this.#open = { beganAt: step, committedAt: Number.POSITIVE_INFINITY, events: [] }
  }

  /** Changes a record and announces it, as the statement of a change does; nothing where another writer has locked the record. */
  async change(record: number): Promise<void> {
    const { rows } = await this.#client.query<{ id: string; version: number }>(
      `with changed as (
         update subjects set version = version + 1 where id = (select id from subjects where id = $2::integer for update skip locked) returning version
       ),
       announced as (
         insert into event_inbox (workspace_id, event_id, type, topic, subject_id, cause)
         select $1::uuid, uuidv7(), 'records.updated', 'subjects', $1::uuid, '{}' from changed returning event_id
       )
       select event_id as id, version from announced cross join changed`,
      [this.#workspaceId, record],
    )
    for (const { id, version } of rows) this.#open?.events.push({ id, record, version })
  }

  async finish(commits: boolean, step: number): Promise<void> {
    await this.#client.query(commits ? 'commit' : 'rollback')
    if (commits && this.#open) {
      this.#open.committedAt = step
      this.writes.push(this.#open)
    }
    this.#open = undefined
  }
}

/** A process that numbers events, step by step. It can be killed before each of them. */
export class Numberer {
  readonly #url: string
  readonly #workspaceId: string
  #client: pg.Client | undefined
  /** The next step. */
  #next: 'lock' | 'number' | 'end' = 'lock'

  constructor(url: string, workspaceId: string) {
    this.#url = url
    this.#workspaceId = workspaceId
  }

  /** Whether a transaction is open. */
  get isOpen(): boolean {
    return this.#next !== 'lock'
  }

  /** Goes on by a step: locks the head, numbers up to `perWorkspace` events, commits. */
  async advance(perWorkspace: number): Promise<void> {
    const client = await this.#connected()
    if (this.#next === 'lock') {
      await client.query('begin')
      const { rowCount } = await client.query(lockHeads({ workspaceIds: [this.#workspaceId] }) as pg.QueryConfig)
      if (rowCount === 0) await client.query('rollback')
      else this.#next = 'number'
      return
    }
    if (this.#next === 'number') await client.query(numberEvents({ workspaceIds: [this.#workspaceId], perWorkspace }) as pg.QueryConfig)
    else await client.query('commit')
    this.#next = this.#next === 'number' ? 'end' : 'lock'
  }

  async rollBack(): Promise<void> {
    await (await this.#connected()).query('rollback')
    this.#next = 'lock'
  }

  /** Ends its connection without a word, as a killed process does, and waits until the database has noticed. */
  async kill(db: Db): Promise<void> {
    const client = await this.#connected()
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    this.#client = undefined
    this.#next = 'lock'
    const ended = new Promise((resolve) => client.once('end', resolve))
    await db.query('select pg_terminate_backend($1::integer, 5000)', [rows[0]?.pid])
    await ended
  }

  end = async () => this.#client?.end()

  async #connected(): Promise<pg.Client> {
    if (this.#client) return this.#client
    // A killed connection reports its end as an error, besides.
    this.#client = openClient(this.#url).on('error', () => undefined)
    await this.#client.connect()
    return this.#client
  }
}

/** The last number of a workspace's list. */
export async function readLastSeq(db: Db, workspaceId: string): Promise<number> {
  const { rows } = await db.query<{ last: number }>('select last_seq::integer as last from feed_heads where workspace_id = $1', [
    workspaceId,
  ])
  return rows[0]?.last ?? -1
}
