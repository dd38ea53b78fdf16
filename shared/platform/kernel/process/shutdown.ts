import type { Logger } from '#shared/platform/kernel/log.ts'

/** Calls `stop` on SIGTERM or SIGINT, then ends the process. A second signal ends it at once. */
export function stopOnSignal(log: Logger, stop: () => Promise<void>): void {
  let isStopping = false
  const begin = (signal: NodeJS.Signals) => {
    if (isStopping) process.exit(1)
    isStopping = true
    log.info({ signal }, 'stopping')
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'could not stop cleanly')
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', begin)
  process.on('SIGINT', begin)
}
