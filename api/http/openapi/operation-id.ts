import type { Route } from '#api/http/route.ts'

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

/**
 * A name for an operation that stays while its method and path do: `GET /orgs/:orgId/records/:typeKey` is `getRecordsByTypeKey`. The
 * workspace that starts almost every path is left out.
 */
export function operationIdOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const segments = path.replace(/^\/orgs\/:orgId(?=\/)/, '').match(/[:*]?\w+/g) ?? []
  const words = segments.map((segment: string) => (/^\w/.test(segment) ? capital(segment) : `By${capital(segment.slice(1))}`))
  return method.toLowerCase() + (words.join('') || 'Start')
}
