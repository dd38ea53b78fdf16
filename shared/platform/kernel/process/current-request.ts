import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Id of the request that caused the current work, for logs in code that no scope reaches. Only logs use it; data that work depends on is
 * passed as a parameter.
 */
export const currentRequestId = new AsyncLocalStorage<string>()
