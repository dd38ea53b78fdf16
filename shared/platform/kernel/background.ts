import type { AppName } from '#shared/platform/kernel/apps.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'

/** Disposition of work: it runs now, it waits and runs later, or its caller gets an error. */
export type Disposition = 'runs' | 'waits' | 'refused'

/**
 * Disposition of each kind of work in a suspended workspace, and of an app's work while the app is off
 * (docs/contract/jobs.md#background-work). Requests, jobs, due work, methods of the SDK and blocks of flows declare their kind and their
 * app.
 */
const dispositions = {
  /** Work with a waiting caller: a request, a job that a caller waits for, a call of the SDK. */
  request: { suspended: 'refused', appOff: 'refused' },
  /** Part of an automation: a block, a function that other work runs, the handling of an event. */
  step: { suspended: 'waits', appOff: 'refused' },
  /** Scheduled work that is due. */
  due: { suspended: 'waits', appOff: 'waits' },
  /** Work that runs in any state: recording moved money, completing begun work, cleaning up. */
  upkeep: { suspended: 'runs', appOff: 'runs' },
} as const satisfies Record<string, { readonly suspended: Disposition; readonly appOff: Disposition }>

export type WorkKind = keyof typeof dispositions

/** Declares the kind of work and its app. */
export interface WorkDeclaration {
  readonly work: WorkKind
  /** The app that the work belongs to; null for none. */
  readonly app: AppName | null
}

interface WorkspaceState {
  readonly status: 'provisioning' | 'active' | 'suspended'
  readonly apps: Readonly<Record<AppName, boolean>>
}

/** Disposition of the work in the workspace's current state. */
export function dispositionOf({ work, app }: WorkDeclaration, workspace: WorkspaceState): Disposition {
  if (workspace.status === 'suspended' && dispositions[work].suspended !== 'runs') return dispositions[work].suspended
  return app === null || workspace.apps[app] ? 'runs' : dispositions[work].appOff
}

/** Whether work of this kind waits while its workspace is suspended. */
export const waitsForWorkspace = (work: WorkKind): boolean => dispositions[work].suspended === 'waits'

/** Whether work of this kind waits while its app is off. */
export const waitsForApp = (work: WorkKind): boolean => dispositions[work].appOff === 'waits'

/** Throws unless the work may run now: ORG_SUSPENDED in a suspended workspace, NOT_FOUND while the app is off, as a request does. */
export function requireNotHalted({ work, app }: WorkDeclaration, workspace: WorkspaceState): void {
  if (dispositionOf({ work, app }, workspace) === 'runs') return
  if (workspace.status === 'suspended') throw problem('ORG_SUSPENDED')
  throw problem('NOT_FOUND', work === 'request' ? undefined : `The app ${app} is switched off`)
}

/**
 * Whether work stopped because its workspace is suspended. For work that waits in a suspended workspace this is no failure: rethrow the
 * error, so that the job is deferred.
 */
export const isSuspensionError = (error: unknown): boolean => error instanceof Problem && error.code === 'ORG_SUSPENDED'
