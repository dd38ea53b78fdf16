import type { Request } from '#api/http/declaration.ts'
import { WithHeaders } from '#api/http/reply/reply.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { LinkedPage } from '#shared/platform/db/lists.ts'

/** The items of a page, with the address of the next page in the header `Link` (RFC 8288), if any. */
export function withNextLink<Item>(
  { line }: Pick<Request<string, unknown, unknown>, 'line'>,
  { config }: Pick<Scope, 'config'>,
  { items, next }: LinkedPage<Item>,
): Item[] | WithHeaders<Item[]> {
  if (next === null) return items
  const { path, query } = line()
  const address = `${config.publicUrl}${path}?${new URLSearchParams({ ...query, cursor: next })}`
  return new WithHeaders(items, { Link: `<${address}>; rel="next"` })
}
