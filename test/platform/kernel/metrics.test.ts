import test from 'ava'
import { Gauge, Registry } from 'prom-client'
import { readMetrics } from '#shared/platform/kernel/metrics.ts'
import { eventually } from '#test/support/eventually.ts'

test('metrics: many callers at once collect them once, and a later one collects them again', async (t) => {
  const registry = new Registry()
  let collected = 0
  new Gauge({
    name: 'collected',
    help: 'How often the metrics were collected',
    registers: [registry],
    collect() {
      collected += 1
      this.set(collected)
    },
  })
  const texts = await Promise.all(Array.from({ length: 100 }, () => readMetrics(registry)))
  t.is(collected, 1)
  t.is(new Set(texts).size, 1)
  await eventually(async () => /^collected [2-9]/m.test(await readMetrics(registry)))
})

test('metrics: a failure is not kept', async (t) => {
  const registry = new Registry()
  let fails = true
  new Gauge({
    name: 'broken',
    help: 'Fails once',
    registers: [registry],
    collect() {
      if (fails) throw new Error('away')
    },
  })
  await t.throwsAsync(readMetrics(registry), { message: 'away' })
  fails = false
  t.regex(await readMetrics(registry), /^broken 0$/m)
})
