import test from 'ava'
import { world } from '#test/support/world.ts'

/** Waiting jobs of a burst, of which the planner has no statistics. */
const waiting = 5_000

const addJobs = 'insert into pgboss.job (name) select $1 from generate_series(1, $2)'
const analyzeJobs = 'analyze pgboss.job_common'
const deleteJobs = 'truncate pgboss.job'
const explained = (statement: string): string => `explain ${statement}`

test('plans: a fetch reads waiting jobs from an index in their order, also with statistics of an empty queue', async (t) => {
  const w = await world()
  t.teardown(async () => {
    await w.db.query(deleteJobs)
    await w.close()
  })
  await w.worker.pools.stop(0)
  await w.db.query(addJobs, ['records.export', waiting])
  await w.db.query(analyzeJobs)
  await w.db.query(addJobs, ['notifications.deliver', waiting])
  const statements: string[] = []
  const db = { executeSql: async (text: string) => ({ rows: statements.push(text) > 0 ? [] : [] }) }
  await w.api.services.jobQueue.boss.fetch('notifications.deliver', { db, batchSize: 100 })
  const { rows } = await w.db.query(explained(statements[0] ?? ''))
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  t.regex(plan, /CTE next\s+->\s+Limit[^\n]*\n\s+->\s+LockRows[^\n]*\n\s+->\s+Index Scan using \w+/, plan)
  t.notRegex(plan, /Sort/, plan)
})
