import { waitedFor } from '#test/support/waiting.ts'
import type { World } from '#test/support/world.ts'

/** How many places of a workspace streams hold. */
export async function countPlaces({ db, org }: Pick<World, 'db' | 'org'>): Promise<number> {
  const { rows } = await db.query<{ count: number }>('select count(*)::integer as count from event_streams where workspace_id = $1', [
    org.id,
  ])
  return rows[0]?.count ?? 0
}

/** Lets the places of a workspace's streams expire, as when their process has died. */
export async function expirePlaces({ db, org }: Pick<World, 'db' | 'org'>): Promise<void> {
  await db.query(`update event_streams set expires_at = now() - interval '1 second' where workspace_id = $1`, [org.id])
}

/** Begins another list of events for the workspace, as a restored copy does, and returns its id. */
export async function renewFeed({ db, org }: Pick<World, 'db' | 'org'>): Promise<string> {
  const { rows } = await db.query<{ feed: string }>('update feed_heads set feed = uuidv7() where workspace_id = $1 returning feed', [
    org.id,
  ])
  return rows[0]?.feed ?? ''
}

const insertNumbered = `
  with head as (update feed_heads set last_seq = last_seq + 1 where workspace_id = $1 returning last_seq),
  told as (select pg_notify('kontor_numbered', $1::text))
  insert into events (workspace_id, seq, id, type, topic, subject_id, subject, cause)
  select $1, last_seq, uuidv7(), $2, '', uuidv7(), jsonb_build_object('id', uuidv7()),
    '{"actorId": null, "actorType": "system", "requestId": "test", "depth": 0}'
  from head, told returning id`

/** Numbers an event of a type that is shown as it is stored, and returns its id. */
export async function numberEvent({ db, org }: Pick<World, 'db' | 'org'>, type: string): Promise<string> {
  const { rows } = await db.query<{ id: string }>(insertNumbered, [org.id, type])
  return rows[0]?.id ?? ''
}

/** The same, but streams begin to look for the event first, and find it once `meanwhile` is done. */
export async function numberEventLate(
  { db, org }: Pick<World, 'db' | 'org'>,
  type: string,
  meanwhile: () => Promise<void>,
): Promise<string> {
  const client = await db.connect()
  try {
    await client.query('begin')
    // Workers pass over the workspace meanwhile.
    await client.query('select from feed_heads where workspace_id = $1 for update', [org.id])
    await client.query('lock table events in access exclusive mode')
    await db.query(`select pg_notify('kontor_numbered', $1)`, [org.id])
    await waitedFor(db, client)
    await meanwhile()
    const { rows } = await client.query<{ id: string }>(insertNumbered, [org.id, type])
    await client.query('commit')
    return rows[0]?.id ?? ''
  } finally {
    client.release()
  }
}

/** Takes the free or expired places of a workspace's streams, as another process does, until so many are held. */
export async function takePlaces({ db, org }: Pick<World, 'db' | 'org'>, count: number): Promise<void> {
  await db.query(
    `insert into event_streams as held (workspace_id, place, stream_id, expires_at)
     select $1, place, uuidv7(), now() + interval '30 seconds' from generate_series(1, $2::integer) as place
     on conflict (workspace_id, place) do update set stream_id = excluded.stream_id, expires_at = excluded.expires_at
       where held.expires_at <= now()`,
    [org.id, count],
  )
}
