import type { Route, Section } from '#api/http/route.ts'
import { features, sections } from '#api/routes.ts'

/** Folders of the routes under test, which `npm test -- <feature>` sets; undefined for all. */
const folders = process.env.TEST_FEATURES?.split(',')

/** Whether the tests examine the routes of some folders only. Counts over all routes are then too small. */
export const isPart = folders !== undefined

/** A route and its name: the method and the path with the base of the public address. */
export interface NamedRoute {
  readonly name: string
  readonly route: Route
}

/** The routes of sections by their names. */
export const namedRoutes = (from: readonly Section[]): NamedRoute[] =>
  from.flatMap(({ base, routes }) => routes.map((route) => ({ name: `${route.method} ${base}${route.path}`, route })))

/** The routes under test. */
export const chosenRoutes: readonly NamedRoute[] = namedRoutes(sections).filter(({ route }) => !folders || folders.some(isOf(route)))

function isOf(route: Route): (folder: string) => boolean {
  return (folder) => [...(features[folder]?.routes ?? []), ...(features[folder]?.unversioned ?? [])].includes(route)
}
