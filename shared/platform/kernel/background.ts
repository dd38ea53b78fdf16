import type { AppName } from '#shared/platform/kernel/apps.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'

/** Disposition of work: it runs now, it waits and runs once afterwards, or its caller gets an error. */
export type Disposition = 'goes on' | 'waits' | 'refused'

/**
 * Disposition of each kind of work in a suspended workspace, and of an app's work while the app is off (decisions, In the background).
 * Requests, jobs, due work, methods of the SDK and blocks of flows declare their kind and their app.
 */
const dispositions = {
  /** A caller waits for the answer: a request, a job with a waiting caller, a call of the SDK. */
  request: { suspended: 'refused', appOff: 'refused' },
  /** Part of an automation: a block, a function run by other work, and handling of events, intake included. */
  step: { suspended: 'waits', appOff: 'refused' },
  /** Scheduled work that is due. */
  due: { suspended: 'waits', appOff: 'waits' },
  /** Runs in any state: recording moved money, and completing or cleaning up work that has begun. */
  upkeep: { suspended: 'goes on', appOff: 'goes on' },
} as const satisfies Record<string, { readonly suspended: Disposition; readonly appOff: Disposition }>

export type WorkKind = keyof typeof dispositions

/** Declares the kind of work and its app. */
export interface WorkDeclaration {
  readonly work: WorkKind
  /** The app that it belongs to; null for none. */
  readonly app: AppName | null
}

/** The workspace that it works in. */
interface WorkspaceState {
  readonly status: 'provisioning' | 'active' | 'suspended'
  readonly apps: Readonly<Record<AppName, boolean>>
}

/** Disposition of the work in the workspace's current state. */
export function dispositionOf({ work, app }: WorkDeclaration, workspace: WorkspaceState): Disposition {
  if (workspace.status === 'suspended' && dispositions[work].suspended !== 'goes on') return dispositions[work].suspended
  return app === null || workspace.apps[app] ? 'goes on' : dispositions[work].appOff
}

/** Whether work of this kind waits while its workspace is suspended. */
export const waitsForWorkspace = (work: WorkKind): boolean => dispositions[work].suspended === 'waits'

/** Whether work of this kind waits while its app is off. */
export const waitsForApp = (work: WorkKind): boolean => dispositions[work].appOff === 'waits'

/** Throws ORG_SUSPENDED or NOT_FOUND, as for a request, unless the work may run now. */
export function requireNotHalted(working: WorkDeclaration, workspace: WorkspaceState): void {
  const { work, app } = working
  if (dispositionOf(working, workspace) === 'goes on') return
  if (workspace.status === 'suspended') throw problem('ORG_SUSPENDED')
  throw problem('NOT_FOUND', work === 'request' ? undefined : `The app ${app} is switched off`)
}

/** Whether work failed because its workspace is suspended. Work that waits then has not failed: rethrow the error to the job. */
export const isSuspensionError = (error: unknown): boolean => error instanceof Problem && error.code === 'ORG_SUSPENDED'
