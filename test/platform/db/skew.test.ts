import { randomUUID } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { Registry } from 'prom-client'
import { openDatabaseClock, registerClockGauge } from '#shared/platform/db/clock.ts'
import { Database } from '#shared/platform/db/database.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { dropDatabase, emptyDatabase } from '#test/support/template.ts'

const hourMs = 3_600_000

/** A clock of a process whose system clock is ahead by some hours, with the warnings that it logs. */
async function openClock(t: ExecutionContext, hours: number) {
  const { name, url } = await emptyDatabase(`skew_${randomUUID().slice(0, 8)}`)
  t.teardown(() => dropDatabase(name))
  const database = new Database(url, { connections: 1, name: 'skew', statementTimeoutMs: 10_000 })
  t.teardown(() => database.close())
  const warnings: { readonly skew_seconds: number }[] = []
  const log = { warn: (line: { readonly skew_seconds: number }) => warnings.push(line) } as unknown as Logger
  const { now } = Date
  Date.now = () => now.call(Date) + hours * hourMs
  t.teardown(() => Object.assign(Date, { now }))
  const clock = await openDatabaseClock(database, log)
  t.teardown(clock.close)
  return { clock, warnings, now }
}

const isNear = (value: number, expected: number): boolean => Math.abs(value - expected) < 4

test('skew: a clock that differs from the database is one warning and a metric, and times stay right', async (t) => {
  const { clock, warnings, now } = await openClock(t, 3)
  t.is(warnings.length, 1)
  t.true(isNear(warnings[0]?.skew_seconds ?? 0, 10_800))
  const registry = new Registry()
  registerClockGauge(registry)(clock)
  const [, seconds] = /^kontor_clock_skew_seconds (.+)$/m.exec(await registry.metrics()) ?? []
  t.true(isNear(Number(seconds), 10_800), seconds)
  t.true(isNear(clock.now().getTime() / 1_000, now.call(Date) / 1_000))
})

test('skew: a clock that is right is no warning', async (t) => {
  const { clock, warnings } = await openClock(t, 0)
  t.deepEqual(warnings, [])
  t.true(isNear(clock.skewSeconds(), 0))
})
