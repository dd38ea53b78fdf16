import type { Route } from '#api/http/route.ts'

/** The tags of routes, each with its number of routes; `no route` without any. */
export function countByTag(routes: readonly Route[]): string {
  const byTag = [...Map.groupBy(routes, ({ tag }) => tag)].sort(([a], [b]) => (a < b ? -1 : 1))
  return byTag.map(([tag, { length }]) => `${tag} (${length})`).join(', ') || 'no route'
}
