import type { Context } from 'koa'
import type { Config } from '#shared/platform/kernel/config.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** The hosts that serve website content, by CONTENT_URL. */
interface ContentHost {
  /** Whether each workspace has a host of its own, so that its content has a separate origin. */
  readonly hasHostPerWorkspace: boolean
  /** The workspace of a content host, null where all share one host; undefined for any other host. */
  readonly match: (host: string) => { readonly orgId: string | null } | undefined
}

const hostsByUrl = new Map<string, ContentHost>()

/** The content hosts of a configuration; undefined when content is served on the same host as everything else. */
export function contentHost({ contentUrl }: Pick<Config, 'contentUrl'>): ContentHost | undefined {
  if (contentUrl === null) return undefined
  const found = hostsByUrl.get(contentUrl) ?? hostsOf(contentUrl)
  hostsByUrl.set(contentUrl, found)
  return found
}

function hostsOf(contentUrl: string): ContentHost {
  const host =
    contentUrl
      .replace(/^https?:\/\//i, '')
      .split('/')[0]
      ?.toLowerCase() ?? ''
  const [before = '', after] = host.split('{org}')
  if (after === undefined)
    return { hasHostPerWorkspace: false, match: (requestedHost) => (requestedHost === host ? { orgId: null } : undefined) }
  return {
    hasHostPerWorkspace: true,
    match: (requestedHost) => {
      const orgId = requestedHost.slice(before.length, requestedHost.length - after.length)
      const isOne = requestedHost.startsWith(before) && requestedHost.endsWith(after) && /^[0-9a-f-]{36}$/.test(orgId)
      return isOne ? { orgId } : undefined
    },
  }
}

/**
 * Keeps website content apart from the rest of the API. On a host of CONTENT_URL, throws NOT_FOUND for all but content, and on a
 * workspace's own host for content of other workspaces. If each workspace has a host of its own, throws NOT_FOUND for content on any other
 * host.
 */
export function requireContentHost({ host, path }: Context, config: Config): void {
  const hosts = contentHost(config)
  if (!hosts) return
  const place = hosts.match(host.toLowerCase())
  const [, orgId] = /^\/content\/([^/]+)/.exec(path) ?? []
  const isContent = orgId !== undefined
  if (place && (!isContent || (place.orgId !== null && place.orgId !== orgId.toLowerCase()))) throw problem('NOT_FOUND')
  if (!place && isContent && hosts.hasHostPerWorkspace) throw problem('NOT_FOUND')
}
