import { AsyncLocalStorage } from 'node:async_hooks'

/** For whom the process works now. */
interface CurrentWork {
  /** Id of the request that caused the work. */
  readonly requestId: string
  /** The workspace, once it is known. */
  workspaceId: string | undefined
}

const currentWork = new AsyncLocalStorage<CurrentWork>()

/**
 * Runs work whose log lines name the request and the workspace, those of code without a scope too. Only logs may use it; data that work
 * depends on is passed as a parameter.
 */
export const runNamed = <T>(requestId: string, workspaceId: string | undefined, work: () => T): T =>
  currentWork.run({ requestId, workspaceId }, work)

/** Runs work of the process itself, which outlives the request that begins it: its log lines name none. */
export const runUnnamed = <T>(work: () => T): T => currentWork.exit(work)

/** Names the workspace in the log lines of the current work from now on. */
export function nameWorkspace(id: string): void {
  const work = currentWork.getStore()
  if (work) work.workspaceId = id
}

/** What a log line says about the current work. */
export function currentNames(): { readonly request_id?: string; readonly workspace_id?: string | undefined } {
  const work = currentWork.getStore()
  return work ? { request_id: work.requestId, workspace_id: work.workspaceId } : {}
}
