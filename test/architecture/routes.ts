import type { FeatureRoutes } from '#api/http/route.ts'
import { features, sections } from '#api/routes.ts'
import { apps } from '#shared/platform/kernel/apps.ts'
import { rowParametersOf } from '#shared/platform/kernel/cursor.ts'
import { type NamedRoute, namedRoutes } from '#test/api/walk/chosen.ts'
import type { Examples } from '#test/api/walk/example.ts'
import { examples } from '#test/api/walk/examples.ts'
import { namingCalls } from '#test/api/walk/naming-calls.ts'
import { otherIds, otherValues } from '#test/api/walk/other-rows.ts'

/** The routes, and the tables from which tests call them. */
interface RouteTables {
  readonly routes: readonly NamedRoute[]
  readonly folders: Readonly<Record<string, FeatureRoutes>>
  readonly apps: readonly string[]
  readonly examples: Examples
  readonly namingCalls: object
  readonly otherValues: object
  readonly otherIds: object
}

export const routeTables: RouteTables = {
  routes: namedRoutes(sections),
  folders: features,
  apps,
  examples,
  namingCalls,
  otherValues,
  otherIds,
}

/** A rule of the routes; `broken` breaks it. */
interface RouteRule {
  readonly name: string
  readonly check: (tables: RouteTables) => string[]
  readonly broken: Partial<RouteTables>
}

const propertiesOf = ({ route }: NamedRoute): object => (route.query?.json as { properties?: object } | undefined)?.properties ?? {}
/** The links of pages are tested with the pages. */
const listsOf = ({ routes }: RouteTables) => routes.filter((one) => one.route.kind !== 'page' && 'cursor' in propertiesOf(one))
const namesOf = ({ routes }: RouteTables): ReadonlySet<string> => new Set(routes.map(({ name }) => name))

const exampled: RouteRule = {
  name: 'every route has an example',
  check: ({ routes, examples }) =>
    routes
      .filter(({ name }) => !(name in examples))
      .map(({ name }) => `${name} has no example: write one as shared/README.md says, and name its file in test/api/walk/examples.ts`),
  broken: { examples: {} },
}

const declared: RouteRule = {
  name: 'every call in the tables of the walks belongs to a route',
  check: (tables) => {
    const calls = [tables.examples, tables.namingCalls].flatMap((table) => Object.keys(table))
    return calls.filter((name) => !namesOf(tables).has(name)).map((name) => `${name} is no route: remove its calls`)
  },
  broken: { namingCalls: { 'GET /v1/unheard-of': [] } },
}

const paged: RouteRule = {
  name: 'every list with a cursor has a call for its second page, and other rows for what chooses its rows',
  check: (tables) =>
    listsOf(tables).flatMap((one) => {
      const parameters = rowParametersOf(propertiesOf(one)).map(([name]) => name)
      const withoutValue = parameters.filter((name) => !name.startsWith('ref_') && !(name in tables.otherValues))
      const ids = [...one.name.matchAll(/:(\w+)/g)].map(([, name = '']) => name).filter((name) => name !== 'orgId')
      return [
        ...(tables.examples[one.name]?.secondPage ? [] : [`${one.name} has a cursor: give its example a secondPage`]),
        ...withoutValue.map((name) => `${one.name}: write another value of ${name} in test/api/walk/other-rows.ts`),
        ...ids
          .filter((name) => !(name in tables.otherIds))
          .map((name) => `${one.name}: write another ${name} in test/api/walk/other-rows.ts`),
      ]
    }),
  broken: { otherValues: {} },
}

const walkedApps: RouteRule = {
  name: 'every app has routes, and the routes of a workspace in one folder have one app, so that the walk calls them with the app off',
  check: ({ folders, apps }) => {
    const appsOf = ({ routes = [], unversioned = [] }: FeatureRoutes) =>
      new Set([...routes, ...unversioned].filter(({ path }) => (path as string).includes('/:orgId')).map(({ app }) => app))
    const found = Object.entries(folders).map(([folder, feature]) => [folder, appsOf(feature)] as const)
    return [
      ...apps.filter((app) => !found.some(([, some]) => some.has(app as never))).map((app) => `no route of the app ${app} can be closed`),
      ...found.flatMap(([folder, { size }]) => (size > 1 ? [`some routes of api/…/${folder} forget their app`] : [])),
    ]
  },
  broken: { apps: ['unheard-of'] },
}

const compared: RouteRule = {
  name: 'every route that changes what its GET returns compares what is sent back (stored)',
  check: ({ routes }) => {
    const reading = new Set(routes.filter(({ route }) => route.method === 'GET').map(({ route }) => route.path))
    const isChange = ({ route }: NamedRoute) =>
      ['PUT', 'PATCH'].includes(route.method) && route.kind !== 'page' && route.body !== undefined && reading.has(route.path)
    return routes.filter((one) => one.name.includes(' /v1/') && isChange(one) && !one.route.stored).map(({ name }) => name)
  },
  broken: { routes: routeTables.routes.map(({ name, route }) => ({ name, route: { ...route, stored: undefined } as never })) },
}

/** What the operator console shows to people who have no session of it. */
const entrance = new Set(['GET /operator', 'POST /operator/sign-in', 'POST /operator/sign-out'])

const operated: RouteRule = {
  name: 'every route of operators has their permission but for the entrance of the console, and every page of it wants its origin named',
  check: ({ routes }) =>
    routes
      .filter(({ route }) => /^\/operator(\/|$)/.test(route.path))
      .flatMap(({ name, route }) => [
        ...(route.permission === 'operator' || entrance.has(name) ? [] : [`${name} must have the permission operator`]),
        ...(route.kind === 'page' && route.origins !== 'named' ? [`${name} must have origins: 'named'`] : []),
      ]),
  broken: { routes: routeTables.routes.map(({ name, route }) => ({ name, route: { ...route, permission: 'any' } as never })) },
}

export const routeRules: readonly RouteRule[] = [exampled, declared, paged, walkedApps, compared, operated]
