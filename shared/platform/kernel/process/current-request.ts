import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Id of the request that caused the current work, for log lines of code without a scope. Only logs may use it; data that work depends on is
 * passed as a parameter.
 */
export const currentRequestId = new AsyncLocalStorage<string>()
