import type { AppName } from '#shared/kernel/apps.ts'
import { Problem, problem } from '#shared/kernel/errors.ts'

/** What becomes of work: it is done now, it is done once afterwards, or whoever asks hears that it is not. */
export type Fate = 'goes on' | 'waits' | 'refused'

/**
 * What becomes of each kind of work in a workspace that is suspended, and of an app's work while the app is off (decisions, In the
 * background). Requests, jobs, due work, methods of the SDK and blocks of flows declare their kind and their app, and ask here.
 */
const fates = {
  /** Somebody is there to hear the answer: of a request, of a job that its caller waits for, of a call of the SDK. */
  request: { suspended: 'refused', appOff: 'refused' },
  /** A part of an automation: a block, a function that something else runs, and what is done about events, intake among it. */
  step: { suspended: 'waits', appOff: 'refused' },
  /** What fell due at its time. */
  due: { suspended: 'waits', appOff: 'waits' },
  /** Whatever else rests, money that moved is written down, and what was begun before is carried through or cleared away. */
  upkeep: { suspended: 'goes on', appOff: 'goes on' },
} as const satisfies Record<string, { readonly suspended: Fate; readonly appOff: Fate }>

export type Work = keyof typeof fates

/** What something that works in workspaces says of itself. */
export interface Working {
  readonly work: Work
  /** The app that it belongs to; null for none. */
  readonly app: AppName | null
}

/** The workspace that it works in. */
interface Place {
  readonly status: 'provisioning' | 'active' | 'suspended'
  readonly apps: Readonly<Record<AppName, boolean>>
}

/** What becomes of it now. */
export function fateOf({ work, app }: Working, place: Place): Fate {
  if (place.status === 'suspended' && fates[work].suspended !== 'goes on') return fates[work].suspended
  return app === null || place.apps[app] ? 'goes on' : fates[work].appOff
}

/** Whether work of this kind waits while its workspace is suspended. */
export const waitsForWorkspace = (work: Work): boolean => fates[work].suspended === 'waits'

/** Whether work of this kind waits while its app is off. */
export const waitsForApp = (work: Work): boolean => fates[work].appOff === 'waits'

/** Throws ORG_SUSPENDED or NOT_FOUND, as a request would hear, unless it goes on now. */
export function requireOpen(working: Working, place: Place): void {
  const { work, app } = working
  if (fateOf(working, place) === 'goes on') return
  if (place.status === 'suspended') throw problem('ORG_SUSPENDED')
  throw problem('NOT_FOUND', work === 'request' ? undefined : `The app ${app} is switched off`)
}

/** Whether work met the suspension of its workspace. Of work that waits then it is no failure: whoever catches one throws it on to the job. */
export const isSuspension = (error: unknown): boolean => error instanceof Problem && error.code === 'ORG_SUSPENDED'
