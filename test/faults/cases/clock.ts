import { setTimeout as delay } from 'node:timers/promises'
import { settleAccounts } from '#test/faults/accounts.ts'
import type { FaultCase } from '#test/faults/case.ts'
import { startLoad } from '#test/faults/load/load.ts'
import { openSite, type Site } from '#test/faults/site.ts'
import { Client } from '#test/support/client.ts'
import { movingClock } from '#test/support/moving-clock.ts'

/** The errors of the clock in hours, one after the other, and how long each lasts. */
const hours = [0, 2, -2]
const turnMs = 1_500
const turns = 8
/** Sign-ins that one address may try in a minute (docs/contract/limits.md#rate-limits). */
const tries = 10

/** The clock of the first API and the first worker is set two hours ahead and back: only the database's time counts. */
export const clockMoved: FaultCase = {
  name: 'a clock is two hours off, to and fro',
  limitSeconds: 120,
  run: async (t) => {
    const site = await openSite(t, { firstEnvironment: movingClock(hours, turnMs) })
    const load = await startLoad(site.org, site.apis)
    const statuses: number[] = []
    const began = performance.now()
    for (let turn = 0; turn < turns; turn++) {
      await delay(turnMs)
      for (const api of site.apis) statuses.push(await signIn(api.root))
    }
    const isOneWindow = performance.now() - began < 60_000
    const figures = await settleAccounts(site, load, turns)
    const letIn = statuses.filter((status) => status === 401).length
    const wrong = [
      ...(letIn === tries || !isOneWindow ? [] : [`${letIn} tries to sign in were let in, and not ${tries}`]),
      ...(figures.failed > 0 ? [`${figures.failed} requests failed`] : []),
      ...(await lastingWindows(site)),
    ]
    return { ...figures, wrong: [...figures.wrong, ...wrong] }
  },
}

const signIn = async (root: string): Promise<number> =>
  (await new Client(root, null).post('/v1/auth/sign-in', { email: 'nobody@example.com', password: 'wrong' })).status

/** Windows of requests that are open longer than their minute. */
async function lastingWindows({ db }: Site): Promise<string[]> {
  const { rowCount } = await db.query('select from rate_limits where expire > extract(epoch from now()) * 1000 + 60000')
  return rowCount ? ['A window of requests lasts for more than a minute'] : []
}
