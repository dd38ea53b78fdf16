import { setTimeout as delay } from 'node:timers/promises'
import { settleAccounts } from '#test/faults/accounts.ts'
import type { FaultCase } from '#test/faults/case.ts'
import { startLoad } from '#test/faults/load/load.ts'
import { median, seconds } from '#test/faults/measure.ts'
import { openSite, type Site } from '#test/faults/site.ts'

/** Time between two faults of the database. */
const betweenMs = 1_500

/** A fault of the database that is repeated under load: APIs and workers must continue by themselves. */
const databaseFault = (name: string, times: number, fault: (site: Site) => Promise<void>): FaultCase => ({
  name,
  limitSeconds: 180,
  run: async (t) => {
    const site = await openSite(t)
    const load = await startLoad(site.org, site.apis, { isNumbered: true })
    const outages: number[] = []
    for (let time = 0; time < times; time++) {
      await delay(betweenMs)
      const began = performance.now()
      await fault(site)
      await Promise.all([...site.apis, ...site.workers].map(({ back }) => back()))
      outages.push(performance.now() - began)
    }
    const figures = await settleAccounts(site, load, times)
    const lived = [...site.apis, ...site.workers].every(({ lives }) => lives)
    const wrong = lived ? figures.wrong : [...figures.wrong, 'A process ended with the database']
    return { ...figures, wrong, note: `serves again after ${seconds(median(outages))}, at most ${seconds(Math.max(...outages))}` }
  },
})

const otherSessions = `from pg_stat_activity where application_name like 'kontor%'`

/** The server ends every session one after the other, as an administrator or a failover does. */
export const sessionsEnded = databaseFault('every session of the database is ended', 5, async ({ db }) => {
  const { rowCount } = await db.query(`select pg_terminate_backend(pid) ${otherSessions}`)
  if (!rowCount) throw new Error('There were no sessions to end')
})

/** The server takes a killed session as a sign of corrupt memory, and restarts all of them. */
export const sessionKilled = databaseFault('kill -9 of a session of the database', 5, async ({ db, cluster }) => {
  const { rows } = await db.query<{ pid: number }>(`select pid ${otherSessions} order by state = 'active' desc, random() limit 1`)
  if (rows.length === 0) throw new Error('There was no session to kill')
  for (const { pid } of rows) process.kill(pid, 'SIGKILL')
  await cluster.back()
})

export const databaseCrashed = databaseFault('pg_ctl stop -m immediate of the database', 10, async ({ cluster }) => {
  await cluster.crash('SIGQUIT')
})

export const databaseKilled = databaseFault('kill -9 of the database', 5, async ({ cluster }) => {
  await cluster.crash('SIGKILL')
})
