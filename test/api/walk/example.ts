import type { Permission } from '#shared/core/policy/permissions.ts'
import type { Client } from '#test/support/client.ts'
import type { Caller } from '#test/support/factories.ts'
import type { Place } from '#test/support/things.ts'

/** What of a request differs from route to route. */
export interface Call {
  /** Values of the path's parameters, without the workspace. */
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  /** JSON; text is sent as `type` says. */
  readonly body?: unknown
  readonly type?: string
  /** Headers beside that of the body's type, such as a signature. */
  readonly headers?: Readonly<Record<string, string>>
  /** Who has to call it; whoever the walk sends, unless said. */
  readonly client?: Client
}

/** One route as the walks know it: who may call it by the documents, whatever its declaration says, and a call that succeeds. */
export interface Example {
  readonly needs: Permission | 'public' | 'any' | 'person' | 'member'
  /** Permissions without which the work itself finds nothing: a record that is not readable is not there. */
  readonly also?: readonly Permission[]
  /** Permissions that are asked for as well, each for a key of its own. */
  readonly further?: readonly { readonly needs: Permission; readonly on: (call: Call, place: Place) => string }[]
  /** The key that the permission is asked for. */
  readonly on?: (call: Call, place: Place) => string
  /** Set where a list shows what of it the caller may see, so that a role for another key gets an empty one. */
  readonly perItem?: true
  /** Set where a service account has none of what the call is about, or may not do it. */
  readonly peopleOnly?: true
  /** Set where the key stands in the body or the query, so that nothing can be asked for it before those are read. */
  readonly keyInside?: true
  /** Set where the body may be anything. */
  readonly anyBody?: true
  /** Set where a name of the path that nothing has yet gets something. */
  readonly makesNamed?: true
  /** Names of the path that must be ids: what is none is 400 there (decisions, Malformed id in a path). */
  readonly ids?: readonly string[]
  /** A query that breaks a rule of the route. */
  readonly badQuery?: string
  /** Makes what one call uses up, for this caller. */
  readonly call: (place: Place, caller: Caller) => Call | Promise<Call>
}

/** Examples by method and path, as routes are declared, with the part of the public address that they stand below. */
export type Examples = Readonly<Record<string, Example>>

/** The address of an example's call. */
export function addressOf(route: string, orgId: string, { params = {}, query = {} }: Call): string {
  const pattern = route.slice(route.indexOf(' ') + 1)
  const path = pattern
    .replace(/\{?\/\*(\w+)\}?/g, (_, name: string) => `/${(params[name] ?? '').split('/').map(encodeURIComponent).join('/')}`)
    .replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(name === 'orgId' ? orgId : (params[name] ?? '')))
  const search = new URLSearchParams(query).toString()
  return search ? `${path}?${search}` : path
}

/** Headers of a call. */
export const headersOf = ({ type, headers }: Call): Record<string, string> => ({
  ...headers,
  ...(type === undefined ? {} : { 'content-type': type }),
})

/** A call that sends the url-encoded fields of a page. */
export const form = (fields: Readonly<Record<string, string>>): Call => ({
  type: 'application/x-www-form-urlencoded',
  body: new URLSearchParams(fields).toString(),
})
