import type { Callers } from '#test/api/walk/callers.ts'
import type { Example } from '#test/api/walk/example.ts'
import {
  admitEveryone,
  admitSignedIn,
  admitSmallestRole,
  brokenCalls,
  checkMissingThings,
  hideFromForeignCallers,
  refuseWhileClosed,
  requireCredentials,
  requirePermission,
  type Step,
} from '#test/api/walk/steps.ts'
import type { Place } from '#test/support/things.ts'

/** Steps that are taken while the workspace is in a state: SQL that sets columns of it, and sets them back. */
export interface Stage {
  readonly state: readonly [set: string, reset: string] | null
  readonly steps: readonly Step[]
}

/** The place of the walk, and its callers. */
export interface Walk {
  readonly place: Place
  readonly callers: Callers
}

/** All steps for a route. The last steps use what an example's call uses up. */
export async function planOf(route: string, example: Example, { place, callers }: Walk): Promise<readonly Stage[]> {
  const call = await example.call(place, callers.bare.member)
  const broken = brokenCalls(example, call)
  const calls = [call, ...broken]
  if (example.needs === 'public') return publicPlan(route, example, { place, callers })
  const first = requireCredentials(callers, calls)
  if (!route.includes('/:orgId')) return [open([...first, ...(await admitSignedIn(callers, place, example))])]
  const app = appOf(route)
  const closed = (expected: string) => refuseWhileClosed(callers, place, calls, expected)
  return [
    open([...first, ...hideFromForeignCallers(callers, place, calls)]),
    ...(app ? [{ state: switchedOff(app), steps: closed('404 NOT_FOUND') }] : []),
    { state: inStatus('suspended'), steps: closed('403 ORG_SUSPENDED') },
    { state: inStatus('provisioning'), steps: closed('503 ORG_NOT_READY') },
    open(example.needs === 'member' ? [] : await requirePermission(callers, place, example, call)),
    open(await checkMissingThings(place, example, call)),
    open(await admitSmallestRole(place, example)),
  ]
}

/** The route needs no credentials; a closed thing does not exist. */
async function publicPlan(route: string, example: Example, { place, callers }: Walk): Promise<readonly Stage[]> {
  const steps = await admitEveryone(callers, place, example)
  if (!route.includes('/:orgId')) return [open(steps)]
  const hidden = steps.map((step) => ({ ...step, expected: '404 NOT_FOUND' }))
  const app = appOf(route)
  return [
    ...(app ? [{ state: switchedOff(app), steps: hidden }] : []),
    { state: inStatus('suspended'), steps: hidden },
    { state: inStatus('provisioning'), steps: hidden },
    open(await checkMissingThings(place, example, await example.call(place, callers.bare.member))),
    open(steps),
  ]
}

const open = (steps: readonly Step[]): Stage => ({ state: null, steps })
const inStatus = (status: string) => [`status = '${status}'`, `status = 'active'`] as const
const switchedOff = (app: string) => [`apps = apps || '{"${app}": false}'`, `apps = apps || '{"${app}": true}'`] as const

/** The app that a route belongs to, by its path (document 1, What the service does). */
const appOf = (route: string): string | undefined =>
  apps[/\/fn\/|\/cal\/|\/book\/|\/rsvp\/|\/pay\/|(?<=:orgId\/)\w+/.exec(route)?.[0] ?? '']
const apps: Readonly<Record<string, string>> = {
  '/fn/': 'functions',
  '/cal/': 'calendar',
  '/book/': 'calendar',
  '/rsvp/': 'calendar',
  '/pay/': 'payments',
  functions: 'functions',
  payments: 'payments',
  queues: 'queues',
  calendar: 'calendar',
  calendars: 'calendar',
  accounting: 'accounting',
}
