import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * The id of the request that what runs now goes back to, for logs of places that no scope reaches. Only logs go by it: what work depends on
 * is handed to it.
 */
export const currentRequest = new AsyncLocalStorage<string>()
