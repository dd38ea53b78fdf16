import type { Logger } from '#shared/platform/kernel/log.ts'
import { FunctionRunners } from '#workers/features/functions/function-runners.ts'

/** Resources that the handlers of one worker process share beside its services. Each costs nothing until it is used. */
export interface Resources {
  readonly functions: FunctionRunners
  /** Closes them and ends running work. */
  readonly close: () => Promise<void>
}

export function openResources(log: Logger): Resources {
  const functions = new FunctionRunners(log)
  return Object.freeze({ functions, close: () => functions.close() })
}
