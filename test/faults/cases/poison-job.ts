import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { settleAccounts } from '#test/faults/accounts.ts'
import type { FaultCase } from '#test/faults/case.ts'
import { startLoad } from '#test/faults/load/load.ts'
import type { Member } from '#test/faults/member.ts'
import { openSite, type Site } from '#test/faults/site.ts'

/** Attempts of an import: the first and four retries (shared/core/records/jobs.ts). */
const tries = 5
const name = 'poison'

/** An import that kills each worker that runs it: it fails after its last attempt, and other work continues. */
export const poisonJob: FaultCase = {
  name: 'a job that kills its worker each time',
  limitSeconds: 180,
  run: async (t) => {
    // The first API and worker connect with their own application name, so that a session shows its process.
    const site = await openSite(t, { through: async (url) => `${url}?application_name=first` })
    const load = await startLoad(site.org, site.apis)
    await holdPoison(site)
    const jobId = await importPoison(site)
    let kills = 0
    let status = ''
    while (status !== 'failed') {
      await hasten(site, jobId)
      const victim = await whoHasIt(site)
      if (victim) {
        await victim.kill()
        kills += 1
        await victim.start()
      }
      await delay(50)
      const { data } = await site.org.owner.get(`${site.org.path}/jobs/${jobId}`)
      status = data.status
    }
    const { rows } = await site.db.query('select from pgboss.job where name = $1 and source_id = $2', ['dead-letters', jobId])
    const figures = await settleAccounts(site, load, kills, 'given up, and kept as a dead letter')
    const wrong = [
      ...(kills === tries ? [] : [`It was tried ${kills} times and not ${tries}`]),
      ...(rows.length === 1 ? [] : [`It is kept as ${rows.length} dead letters`]),
    ]
    return { ...figures, wrong: [...figures.wrong, ...wrong] }
  },
}

/** A row of this name keeps its worker busy until the session is ended. */
async function holdPoison({ db, org }: Site): Promise<void> {
  await db.query(`
    create function public.hold_poison() returns trigger language plpgsql as $$
    begin
      if new::text like '%${name}%' then perform pg_sleep(60); end if;
      return new;
    end $$;
    create trigger hold_poison before insert on "ws_${org.id.replaceAll('-', '')}".locations
    for each row execute function public.hold_poison()`)
}

async function importPoison({ org }: Site): Promise<string> {
  const file = new FormData()
  file.append('file', new Blob([`name\n${name}\n`], { type: 'text/csv' }), 'poison.csv')
  const headers = { prefer: 'respond-async', 'idempotency-key': randomUUID() }
  const { data, text } = await org.owner.post(`${org.path}/records/locations/import`, file, headers)
  if (!data?.job_id) throw new Error(text)
  return data.job_id
}

/** Otherwise the queue would wait ten seconds or more before it takes a worker for dead, and longer before each attempt. */
async function hasten({ db }: Site, jobId: string): Promise<void> {
  await db.query(`update pgboss.job set heartbeat_seconds = 1, retry_delay = 0, start_after = least(start_after, now()) where id = $1`, [
    jobId,
  ])
}

/** The worker that runs the poisoned import; its database session is ended too. */
async function whoHasIt({ db, workers: [first, second] }: Site): Promise<Member | undefined> {
  const { rows } = await db.query<{ whose: string }>(
    `select application_name as whose, pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep'`,
  )
  if (rows.length === 0) return undefined
  return rows.some(({ whose }) => whose === 'first') ? first : second
}
