import type { Context } from 'koa'
import type { Routers } from '#api/http/routers.ts'
import { type Problem, problem } from '#shared/platform/kernel/errors.ts'
import { isSimilarName } from '#shared/platform/kernel/similar-names.ts'

/** Prefix with a made-up workspace id, to test whether a path only lacks its `/v1/orgs/{orgId}`. */
const anyWorkspace = '/v1/orgs/00000000-0000-0000-0000-000000000000'

/**
 * NOT_FOUND for a request without a route. The message names the methods of the path, or the path that was probably meant
 * (docs/contract/conventions.md#unknown-addresses). Outside `/v1` browsers get a page.
 */
export function describeMissingRoute(ctx: Context, routers: Routers, paths: readonly string[]): Problem {
  if (!ctx.path.startsWith('/v1/') && prefersPage(ctx)) {
    ctx.state.framed = 'none'
    return problem('NOT_FOUND')
  }
  return problem('NOT_FOUND', messageOf(ctx, routers, paths))
}

/** Whether the client prefers HTML, as browsers do. */
export function prefersPage(ctx: Context): boolean {
  ctx.vary('Accept')
  return ctx.accepts(['application/json', 'text/html']) === 'text/html'
}

function messageOf({ method, path }: Context, routers: Routers, paths: readonly string[]): string {
  const methods = routers.methodsOf(path)
  if (methods.length > 0) return `This address has no ${method}; it has ${methods.join(', ')}${adviceOn(path)}`
  if (routers.methodsOf(`/v1${path}`).length > 0) return `There is no such address; paths of the API begin with /v1: /v1${shortened(path)}`
  const inWorkspace = path.replace(/^\/v1(?=\/)/, '')
  if (routers.methodsOf(anyWorkspace + inWorkspace).length > 0)
    return `There is no such address; paths of a workspace begin with /v1/orgs/{orgId}: /v1/orgs/{orgId}${shortened(inWorkspace)}`
  const meant = path.startsWith('/v1/') ? nearestPath(path, paths) : undefined
  if (meant !== undefined) return `There is no such address; did you mean ${meant}?`
  return 'There is no such address; /docs/reference lists every address'
}

/** Clients often look for the route that changes a record's values at the record itself. */
const adviceOn = (path: string): string =>
  /^\/v1\/orgs\/[^/]+\/records\/[^/]+\/[^/]+\/?$/.test(path)
    ? '. Values of a record are changed by PUT …/records/{typeKey}/{recordId}/values'
    : ''

const shortened = (path: string): string => (path.length > 200 ? `${path.slice(0, 200)}…` : path)

/** The declared path that differs from a path in one segment only, which is spelled nearly the same. */
function nearestPath(path: string, paths: readonly string[]): string | undefined {
  const sent = path.replace(/\/$/, '').split('/')
  const found = paths.find((known) => {
    const segments = known.split('/')
    if (segments.length !== sent.length) return false
    const different = segments.flatMap((segment, index) => (isVariable(segment) || segment === sent[index] ? [] : [index]))
    const [only = -1] = different
    return different.length === 1 && isSimilarName(sent[only] ?? '', segments[only] ?? '')
  })
  return found?.replace(/:(\w+)/g, '{$1}')
}

const isVariable = (segment: string): boolean => /[:*{]/.test(segment)
