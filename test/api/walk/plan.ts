import type { Callers } from '#test/api/walk/callers.ts'
import { type ClosedPlace, type ClosedState, closedAnswers } from '#test/api/walk/closed.ts'
import type { Example } from '#test/api/walk/example.ts'
import {
  anybodyEnters,
  brokenCalls,
  nobodyEnters,
  nobodySeesWhatIsClosed,
  othersAreRefused,
  type Step,
  strangersSeeNothing,
  theAbsentIsNotFound,
  theClosedStaysClosed,
  theRightRoleEnters,
  theSignedInEnter,
} from '#test/api/walk/steps.ts'
import type { Place } from '#test/support/things.ts'

/** Steps that are taken in a workspace. */
export interface Stage {
  readonly place: Place
  readonly steps: readonly Step[]
}

/** Where the walk takes place and who walks. */
export interface Walk {
  readonly place: Place
  readonly callers: Callers
  /** Workspaces that are closed to everybody. */
  readonly closed: Readonly<Record<ClosedState, ClosedPlace>>
}

/** All that is asked of a route. What an example's call uses up is used by the last steps. */
export async function planOf(route: string, example: Example, walk: Walk): Promise<readonly Stage[]> {
  const { place, callers } = walk
  const open = (steps: readonly Step[]): Stage => ({ place, steps })
  const call = await example.call(place, callers.bare.member)
  const broken = brokenCalls(example, call)
  const calls = [call, ...broken]
  if (example.needs === 'public') return publicPlan(route, example, walk)
  const first = nobodyEnters(callers, calls)
  if (!route.includes('/:orgId')) return [open([...first, ...(await theSignedInEnter(callers, place, example))])]
  return [
    open([...first, ...strangersSeeNothing(callers, place, calls)]),
    ...Object.entries(walk.closed).flatMap(([state, one]) => {
      const there = one.calls[route]
      if (!there) return []
      const steps = theClosedStaysClosed(
        one.callers,
        one.place,
        [there, ...brokenCalls(example, there)],
        closedAnswers[state as ClosedState],
      )
      return [{ place: one.place, steps }]
    }),
    open(example.needs === 'member' ? [] : await othersAreRefused(callers, place, example, call)),
    open(await theAbsentIsNotFound(place, example, call)),
    open(await theRightRoleEnters(place, example)),
  ]
}

/** Nobody is asked who it is; what is closed is not there. */
async function publicPlan(route: string, example: Example, { place, callers, closed }: Walk): Promise<readonly Stage[]> {
  const open = (steps: readonly Step[]): Stage => ({ place, steps })
  const steps = await anybodyEnters(callers, place, example)
  if (!route.includes('/:orgId')) return [open(steps)]
  return [
    ...Object.values(closed).flatMap((one) => {
      const call = one.calls[route]
      return call ? [{ place: one.place, steps: nobodySeesWhatIsClosed(one.callers, call) }] : []
    }),
    open(await theAbsentIsNotFound(place, example, await example.call(place, callers.bare.member))),
    open(steps),
  ]
}
