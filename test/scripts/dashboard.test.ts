import { readFile } from 'node:fs/promises'
import test from 'ava'
import { inboxOf, locationsOf, makeRule } from '#test/notifications/make-rule.ts'
import { world } from '#test/support/world.ts'
import { registry } from '#workers/metrics.ts'

const dashboard = new URL('../../scripts/grafana/kontor.json', import.meta.url)

/** The names of metrics in an expression: what stands before a brace, a bracket, a comparison or the end, and is no function. */
const namesIn = (expression: string): string[] =>
  [...expression.matchAll(/\b(?:kontor|nodejs|process)_\w+/g)].map(([name]) => name.replace(/_(?:bucket|count|sum)$/, ''))

test.serial('every metric that the dashboard draws is told by the API or by the workers', async (t) => {
  const w = await world()
  t.teardown(w.close)
  await w.visitor.get(inboxOf(w))
  const told = (await w.visitor.get('/metrics')).text + (await registry.metrics())
  const { panels } = JSON.parse(await readFile(dashboard, 'utf8')) as { panels: { targets: { expr: string }[] }[] }
  const drawn = new Set(panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => namesIn(expr))))
  t.true(drawn.size >= 10)
  for (const name of drawn) t.regex(told, new RegExp(`^# TYPE ${name} `, 'm'), name)
})

test.serial('a process that keeps house tells how much waits in every queue, and since when', async (t) => {
  const w = await world()
  t.teardown(async () => {
    await w.db.query('truncate event_outbox')
    await w.close()
  })
  await w.worker.pools.stop(0)
  await makeRule(w)
  for (const name of ['x', 'y']) await w.org.owner.post(locationsOf(w), { values: { name } })
  await w.db.query(`update event_outbox set id = uuidv7(interval '-1 hour')`)
  const told = await registry.metrics()
  t.regex(told, /^kontor_queue_jobs\{job="events",state="waiting"\} 2$/m)
  const [, seconds] = /^kontor_queue_oldest_seconds\{job="events"\} (\S+)$/m.exec(told) ?? []
  t.true(Number(seconds) >= 3_600 && Number(seconds) < 4_000, seconds)
  t.regex(told, /^kontor_queue_jobs\{job="records.import",state="waiting"\} 0$/m)
  t.regex((await w.visitor.get('/metrics')).text, /^kontor_database_connections\{state="busy"\} \d+$/m)
})
