import type { SourceProblem } from '#workers/functions/sandbox/handler-binding.ts'
import { watch } from '#workers/functions/sandbox/limits.ts'
import { toRunner, toWorker } from '#workers/functions/sandbox/protocol.ts'
import type { Runner } from '#workers/functions/sandbox/runner.ts'

const tooHard: SourceProblem = Object.freeze({ line: 1, column: 1, message: 'the source takes too long or too much memory to parse' })

/** Has a ready runner compile and parse a source without running it. A source that takes more than two seconds costs the runner. */
export async function checkIn(runner: Runner, source: string): Promise<SourceProblem | null> {
  const found = Promise.withResolvers<SourceProblem | null>()
  const clock = setTimeout(() => runner.kill(), watch.checkMs)
  runner.order(toRunner.check, source, {
    hear: ({ kind, text }) => {
      if (kind === toWorker.checked) found.resolve(text === '' ? null : JSON.parse(text))
      else runner.kill()
    },
    lose: () => found.resolve(tooHard),
  })
  try {
    return await found.promise
  } finally {
    clearTimeout(clock)
  }
}
