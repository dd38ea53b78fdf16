import type { Logger } from '#shared/platform/kernel/log.ts'
import { FunctionRunners } from '#workers/features/functions/function-runners.ts'

/** What the handlers of one worker process share beside its services. Each costs nothing until it is used. */
export interface Resources {
  readonly functions: FunctionRunners
  /** Ends whatever still uses them. */
  readonly close: () => Promise<void>
}

export function openResources(log: Logger): Resources {
  const functions = new FunctionRunners(log)
  return Object.freeze({ functions, close: () => functions.close() })
}
