import type { AnyHandler } from '#workers/handler.ts'
import setUpWorkspace from '#workers/workspaces/set-up.ts'

/** What does each declared job. */
export const handlers: readonly AnyHandler[] = [setUpWorkspace]
