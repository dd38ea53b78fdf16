import type { Logger } from '#shared/platform/kernel/log.ts'

/** The exit code of a process whose settings do not fit its installation or its machine: EX_CONFIG of sysexits. A restart changes nothing. */
const refusalExitCode = 78

/** An error by which a process refuses to start, with a sentence for the operator. */
interface StartRefusal extends Error {
  readonly code: 'START_REFUSED'
}

export const startRefusal = (message: string): StartRefusal => Object.assign(new Error(message), { code: 'START_REFUSED' as const })

const isStartRefusal = (error: unknown): error is Error => error instanceof Error && 'code' in error && error.code === 'START_REFUSED'

/** Starts a process. A refusal is one line of the log without a stack, and the exit code 78; any other failure a line with it, and 1. */
export async function startOrExit<T>(log: Logger, start: () => Promise<T>): Promise<T> {
  try {
    return await start()
  } catch (error) {
    if (!isStartRefusal(error)) {
      log.fatal({ err: error }, 'could not start')
      process.exit(1)
    }
    log.fatal(`refused to start: ${error.message}`)
    process.exit(refusalExitCode)
  }
}
