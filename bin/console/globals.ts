import type { Api } from '#api/server.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { DomainFunctions } from './domains.ts'
import type { ConsoleSession } from './session.ts'

/** A response of the API as the console prints it. */
interface Answer {
  readonly status: number
  readonly data?: unknown
  readonly error?: unknown
  /** A body that is not JSON. */
  readonly text?: string
}

const methods = { get: 'GET', post: 'POST', put: 'PUT', patch: 'PATCH', del: 'DELETE' } as const

/** The global names of the console. `scope` is a getter, because `org` and `as` change it. */
export function globalsOf(api: Api, session: ConsoleSession, domains: Readonly<Record<string, DomainFunctions>>): object {
  const { database, cache, config, jobQueue } = api.services
  const call = (method: string) => (path: string, body?: unknown, headers?: Readonly<Record<string, string>>) =>
    callApi(api, session, method, path, body, headers)
  const globals = {
    ...Object.fromEntries(Object.entries(domains).map(([name, domain]) => [name, withFreshCache(domain, session, () => cache.refresh())])),
    ...Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, call(method)])),
    config,
    cache,
    queue: jobQueue,
    db: database,
    sql: (strings: TemplateStringsArray, ...values: readonly unknown[]) =>
      database.query({ text: strings.reduce((text, next, index) => `${text}$${index}${next}`), values: [...values] }),
    org: (text: string) => session.enter(text),
    as: (who: string | null) => session.become(who),
  }
  return Object.defineProperty(globals, 'scope', { enumerable: true, get: () => session.place.scope })
}

/** The same functions. One that is called with the console's scope first refreshes the cache, as each request does. */
function withFreshCache(domain: DomainFunctions, session: ConsoleSession, refresh: () => Promise<void>): DomainFunctions {
  const wrapped = Object.entries(domain).map(([name, work]) => {
    const call = (...args: readonly unknown[]) => (args[0] === session.place.scope ? refresh().then(() => work(...args)) : work(...args))
    return [name, Object.defineProperty(call, 'name', { value: name })] as const
  })
  return Object.fromEntries(wrapped)
}

async function callApi(
  { port }: Api,
  { place: { scope, token } }: ConsoleSession,
  method: string,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const isRaw = body === undefined || typeof body === 'string'
  const response = await fetch(`http://127.0.0.1:${port}${path.startsWith('/') ? path : `${rootOf(scope)}/${path}`}`, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(isRaw ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
  // The keys of the body are merged in; the HTTP status overrides a `status` of the body.
  return Object.assign({ status: 0 }, isJson ? JSON.parse(text) : text === '' ? {} : { text }, { status: response.status })
}

/** Prefix of paths without a leading slash. */
const rootOf = (scope: Partial<Scope>): string => (scope.workspace ? `/v1/orgs/${scope.workspace.id}` : '/v1')
