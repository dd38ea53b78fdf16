import { sections } from '#api/routes.ts'

/** A declared route, as `kontor routes` shows it. */
interface ListedRoute {
  readonly method: string
  readonly path: string
  readonly permission: string
  readonly app: string | null
  readonly limit: string | null
  readonly job: string | null
  readonly summary: string
}

/** Lists the declared routes whose values contain all words, in any letter case. */
export function listRoutes(words: readonly string[]): ListedRoute[] {
  const listed = sections.flatMap(({ base, routes }) =>
    routes.map((route) => ({
      method: route.method,
      path: base + route.path,
      permission: route.permission,
      app: route.app,
      limit: route.limit,
      job: route.kind === 'delegate' ? route.job.name : null,
      summary: route.summary,
    })),
  )
  return listed.filter((route) => words.every((word) => Object.values(route).join(' ').toLowerCase().includes(word.toLowerCase())))
}
