import { type Config, readConfig } from '#shared/platform/kernel/config.ts'
import { createLogger, type Logger } from '#shared/platform/kernel/log.ts'
import { makeFilesPrivate } from '#shared/platform/kernel/process/private-files.ts'
import { isStartRefusal } from '#shared/platform/kernel/process/start-refusal.ts'

/** The exit code after a refusal to start: EX_CONFIG of sysexits. */
const refusalExitCode = 78

/**
 * Reads the settings and starts a process that logs under `name`. A refusal is one line of the log without a stack, and the exit code 78; any
 * other failure a line with it, and 1.
 */
export async function startProcess(name: string, start: (config: Config, log: Logger) => Promise<void>): Promise<void> {
  let log = createLogger(name, 'info')
  try {
    const config = readConfig()
    log = createLogger(name, config.logLevel)
    await makeFilesPrivate(config.dataDir)
    await start(config, log)
  } catch (error) {
    if (!isStartRefusal(error)) {
      log.fatal({ err: error }, 'could not start')
      process.exit(1)
    }
    log.fatal(`refused to start: ${error.message}`)
    process.exit(refusalExitCode)
  }
}
