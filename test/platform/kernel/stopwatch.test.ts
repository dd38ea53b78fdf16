import test from 'ava'
import { Stopwatch } from '#shared/platform/kernel/time/stopwatch.ts'

const hour = 3_600_000

/** The reading of a stopwatch after the system's clock and the process's own clock have advanced this much. */
function saidAfter(wallMs: number, ownMs: number): number {
  const [wallNow, ownNow] = [Date.now, performance.now]
  const stopwatch = new Stopwatch()
  Date.now = () => wallNow.call(Date) + wallMs
  performance.now = () => ownNow.call(performance) + ownMs
  try {
    return stopwatch.elapsedMs()
  } finally {
    Object.assign(Date, { now: wallNow })
    Object.assign(performance, { now: ownNow })
  }
}

for (const [name, wallMs, ownMs] of [
  ['both clocks went right', hour, hour],
  ['the system’s clock was set back meanwhile', 0, hour],
  ['the machine slept, and with it the process’s own', hour, 0],
  ['the system’s clock was set back to before it began', -hour, 0],
] as const)
  test(`stopwatch: an hour is at least an hour: ${name}`, (t) => {
    const said = saidAfter(wallMs, ownMs)
    t.true(said >= hour && said < hour + 60_000, `${said}`)
  })

test('stopwatch: no time is zero, and a stopwatch restarts', (t) => {
  const stopwatch = new Stopwatch()
  stopwatch.restart()
  t.true(stopwatch.elapsedMs() < 60_000)
})
