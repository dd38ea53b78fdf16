import test from 'ava'
import { createTally, formatTally } from '#scripts/test/tally.ts'

const cases: readonly { name: string; report: readonly string[]; exitCode: number; line: string }[] = [
  { name: 'all passed', report: ['  ✔ a', '  ✔ b (1.2s)', '  ─', '', '  2 tests passed'], exitCode: 0, line: '2 passed, 0 failed' },
  { name: 'one passed', report: ['  ✔ a', '  ─', '', '  1 test passed'], exitCode: 0, line: '1 passed, 0 failed' },
  {
    name: 'in colour',
    report: [
      '  \u001b[32m✔\u001b[39m a',
      '  \u001b[31m✘ [fail]:\u001b[39m b',
      '  \u001b[90m─\u001b[39m',
      '  \u001b[31m1 test failed\u001b[39m',
    ],
    exitCode: 1,
    line: '1 passed, 1 failed',
  },
  {
    name: 'failures, hooks, exceptions, rejections and timeouts all count',
    report: [
      '  ─',
      '  ─',
      '  1 hook failed',
      '  2 tests failed',
      '  1 unhandled rejection',
      '  2 uncaught exceptions',
      '  3 tests remained pending after a timeout',
    ],
    exitCode: 1,
    line: '0 passed, 9 failed',
  },
  { name: 'skipped', report: ['  - [skip] a', '  ─', '  2 tests skipped'], exitCode: 0, line: '0 passed, 0 failed, 2 skipped' },
  {
    name: 'an expected failure passes',
    report: ['  ✔ [expected fail] a', '  ─', '  1 known failure'],
    exitCode: 0,
    line: '1 passed, 0 failed',
  },
  {
    name: 'a file that does not load',
    report: ['  ✘ test/a.test.ts exited with a non-zero exit code: 1', '  ─'],
    exitCode: 1,
    line: '0 passed, 1 failed',
  },
  { name: 'ended without a report', report: [], exitCode: 1, line: '0 passed, 1 failed' },
  {
    name: 'what a failure quotes is not counted',
    report: ['  ─', '  ✔ a', '    1 test failed', '  1 test failed'],
    exitCode: 1,
    line: '0 passed, 1 failed',
  },
]

for (const { name, report, exitCode, line } of cases) {
  test(`tally: ${name}`, (t) => {
    const tally = createTally()
    for (const text of report) tally.read(text)
    t.is(formatTally(tally.result(exitCode)), line)
  })
}
