import type { Context } from 'koa'
import type { Routers } from '#api/http/routers.ts'
import { type Problem, problem } from '#shared/platform/kernel/errors.ts'
import { isSimilarName } from '#shared/platform/kernel/similar-names.ts'

/** Stands for any workspace, to find out whether an address lacks its `/v1/orgs/{orgId}`. */
const anyWorkspace = '/v1/orgs/00000000-0000-0000-0000-000000000000'

/**
 * NOT_FOUND for a request that reaches no route: its message names the methods that the path has, or the address that was probably meant
 * (page 5, Not found). Outside `/v1` a browser gets it as a page.
 */
export function describeMissingRoute(ctx: Context, rooms: Routers, paths: readonly string[]): Problem {
  if (!ctx.path.startsWith('/v1/') && prefersPage(ctx)) {
    ctx.state.framed = 'none'
    return problem('NOT_FOUND')
  }
  return problem('NOT_FOUND', messageOf(ctx, rooms, paths))
}

/** Whether a browser asks, by what it accepts. */
function prefersPage(ctx: Context): boolean {
  ctx.vary('Accept')
  return ctx.accepts(['application/json', 'text/html']) === 'text/html'
}

function messageOf({ method, path }: Context, rooms: Routers, paths: readonly string[]): string {
  const methods = rooms.methodsOf(path)
  if (methods.length > 0) return `This address has no ${method}; it has ${methods.join(', ')}${adviceOn(path)}`
  if (rooms.methodsOf(`/v1${path}`).length > 0) return `There is no such address; the API stands below /v1: /v1${shortened(path)}`
  const inWorkspace = path.replace(/^\/v1(?=\/)/, '')
  if (rooms.methodsOf(anyWorkspace + inWorkspace).length > 0)
    return `There is no such address; what belongs to a workspace stands below /v1/orgs/{orgId}: /v1/orgs/{orgId}${shortened(inWorkspace)}`
  const meant = path.startsWith('/v1/') ? nearestPath(path, paths) : undefined
  if (meant !== undefined) return `There is no such address; did you mean ${meant}?`
  return 'There is no such address; /docs describes all that there are'
}

/** The values of a record are changed by a route of their own, which many look for at the record itself. */
const adviceOn = (path: string): string =>
  /^\/v1\/orgs\/[^/]+\/records\/[^/]+\/[^/]+\/?$/.test(path)
    ? '. Values of a record are changed by PUT …/records/{typeKey}/{recordId}/values'
    : ''

const shortened = (path: string): string => (path.length > 200 ? `${path.slice(0, 200)}…` : path)

/** The declared path that a path is a misspelling of: the same but for one segment, which is spelled nearly the same. */
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
