import type { Callers } from '#test/api/walk/callers.ts'
import { type ClosedPlace, type ClosedState, closedAnswers } from '#test/api/walk/closed.ts'
import type { Example } from '#test/api/walk/example.ts'
import { operateByCookie, operateByToken } from '#test/api/walk/operator-steps.ts'
import {
  admitEveryone,
  admitSignedIn,
  admitSmallestRole,
  brokenCalls,
  checkMissingThings,
  hideClosedPlaces,
  hideFromForeignCallers,
  refuseWhileClosed,
  requireCredentials,
  requirePermission,
  type Step,
} from '#test/api/walk/steps.ts'
import type { Place } from '#test/support/things.ts'

/** Steps that are taken in a workspace. */
export interface Stage {
  readonly place: Place
  readonly steps: readonly Step[]
}

/** The place of the walk, and its callers. */
export interface Walk {
  readonly place: Place
  readonly callers: Callers
  /** Workspaces that are closed to everybody. */
  readonly closed: Readonly<Record<ClosedState, ClosedPlace>>
}

/** All steps for a route. The last steps use what an example's call uses up. */
export async function planOf(route: string, example: Example, walk: Walk): Promise<readonly Stage[]> {
  const { place, callers } = walk
  const open = (steps: readonly Step[]): Stage => ({ place, steps })
  if (example.needs === 'operator') {
    const operate = route.includes(' /v1/') ? operateByToken : operateByCookie
    return [open(await operate(route, example, walk))]
  }
  const call = await example.call(place, callers.bare.member)
  const broken = brokenCalls(example, call)
  const calls = [call, ...broken]
  if (example.needs === 'public') return publicPlan(route, example, walk)
  const first = requireCredentials(callers, calls)
  if (!route.includes('/:orgId')) return [open([...first, ...(await admitSignedIn(callers, place, example))])]
  return [
    open([...first, ...hideFromForeignCallers(callers, place, calls)]),
    ...Object.entries(walk.closed).flatMap(([state, one]) => {
      const there = one.calls[route]
      if (!there) return []
      const steps = refuseWhileClosed(one.callers, one.place, [there, ...brokenCalls(example, there)], closedAnswers[state as ClosedState])
      return [{ place: one.place, steps }]
    }),
    open(example.needs === 'member' ? [] : await requirePermission(callers, place, example, call)),
    open(await checkMissingThings(place, example, call)),
    open(await admitSmallestRole(place, example)),
  ]
}

/** The route needs no credentials; a closed workspace does not exist. */
async function publicPlan(route: string, example: Example, { place, callers, closed }: Walk): Promise<readonly Stage[]> {
  const open = (steps: readonly Step[]): Stage => ({ place, steps })
  const steps = await admitEveryone(callers, place, example)
  if (!route.includes('/:orgId')) return [open(steps)]
  return [
    ...Object.values(closed).flatMap((one) => {
      const call = one.calls[route]
      return call ? [{ place: one.place, steps: hideClosedPlaces(one.callers, call) }] : []
    }),
    open(await checkMissingThings(place, example, await example.call(place, callers.bare.member))),
    open(steps),
  ]
}
