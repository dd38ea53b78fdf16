import type { Api } from '#api/server.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { DomainFunctions } from './domains.ts'
import type { ConsoleSession } from './session.ts'

/** An answer of the API as the console shows it. */
interface Answer {
  readonly status: number
  readonly data?: unknown
  readonly error?: unknown
  /** The body where it is no JSON. */
  readonly text?: string
}

const methods = { get: 'GET', post: 'POST', put: 'PUT', patch: 'PATCH', del: 'DELETE' } as const

/** What is known by name in the console; `scope` is a getter, for it changes with every `org` and `as`. */
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

/** The same functions; one that takes the console's scope is called once the caches are as true as at the start of a request. */
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
  // What stands in a body goes by its own names, all but the status of the answer.
  return Object.assign({ status: 0 }, isJson ? JSON.parse(text) : text === '' ? {} : { text }, { status: response.status })
}

/** Below which address a path without a leading slash stands. */
const rootOf = (scope: Partial<Scope>): string => (scope.workspace ? `/v1/orgs/${scope.workspace.id}` : '/v1')
