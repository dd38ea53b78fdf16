import { apps } from '#shared/platform/kernel/apps.ts'
import type { Callers } from '#test/api/walk/callers.ts'
import { chosenRoutes } from '#test/api/walk/chosen.ts'
import type { Call } from '#test/api/walk/example.ts'
import { examples } from '#test/api/walk/examples.ts'
import { createMember, createOrg, createService } from '#test/support/factories.ts'
import { type Place, settle } from '#test/support/things.ts'
import type { World } from '#test/support/world.ts'

/** In what way a workspace is closed. */
export type ClosedState = 'suspended' | 'provisioning' | 'without apps'

/** A closed workspace, and the call of each route that it is closed to. What the calls name was made while it was open. */
export interface ClosedPlace {
  readonly place: Place
  readonly callers: Callers
  readonly calls: Readonly<Record<string, Call>>
}

/** What a caller is answered who would be let in if the workspace were open. */
export const closedAnswers: Readonly<Record<ClosedState, string>> = {
  suspended: '403 ORG_SUSPENDED',
  provisioning: '503 ORG_NOT_READY',
  'without apps': '404 NOT_FOUND',
}

/** SQL that closes a workspace. */
const closing: Readonly<Record<ClosedState, string>> = {
  suspended: `status = 'suspended'`,
  provisioning: `status = 'provisioning'`,
  'without apps': `apps = '${JSON.stringify(Object.fromEntries(apps.map((app) => [app, false])))}'`,
}

/** Makes one workspace for each state. */
export async function makeClosedPlaces(world: World, callers: Callers): Promise<Readonly<Record<ClosedState, ClosedPlace>>> {
  return {
    suspended: await makeClosedPlace(world, callers, 'suspended'),
    provisioning: await makeClosedPlace(world, callers, 'provisioning'),
    'without apps': await makeClosedPlace(world, callers, 'without apps'),
  }
}

async function makeClosedPlace(world: World, callers: Callers, state: ClosedState): Promise<ClosedPlace> {
  const org = await createOrg(world)
  const place = await settle(world, org)
  const bare = { member: await createMember(world, org), key: await createService(world, org) }
  const calls: Record<string, Call> = {}
  for (const { name, route } of chosenRoutes) {
    if (!name.includes('/:orgId') || (state === 'without apps' && route.app === null)) continue
    const call = await examples[name]?.call(place, bare.member)
    if (call) calls[name] = call
  }
  await world.drain()
  await world.db.query(`update workspaces set ${closing[state]} where id = $1`, [org.id])
  return { place, callers: { ...callers, bare }, calls }
}
