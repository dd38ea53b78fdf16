import type { Permission } from '#shared/core/policy/permissions.ts'
import type { Client } from '#test/support/client.ts'
import type { Caller } from '#test/support/factories.ts'
import type { Place } from '#test/support/things.ts'

/** The parts of a request that differ from route to route. */
export interface Call {
  /** Values of the path's parameters, without the workspace. */
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  /** JSON; text is sent with `type`. */
  readonly body?: unknown
  readonly type?: string
  /** Headers beside that of the body's type, such as a signature. */
  readonly headers?: Readonly<Record<string, string>>
  /** The caller that must send it; by default the one that the walk chooses. */
  readonly client?: Client
}

/** Makes the call for the second page of a list with a cursor, from fresh things. */
export type SecondPage = (place: Place) => Promise<Call & Required<Pick<Call, 'query'>>>

/** A route as the walks know it: its callers by the contract, whatever its declaration says, and what its declared example needs. */
export interface Walked {
  readonly needs: Permission | 'public' | 'any' | 'person' | 'member' | 'operator'
  /** Permissions without which the work finds nothing: an unreadable record does not exist for the caller. */
  readonly also?: readonly Permission[]
  /** Further permissions that are checked, each for its own key. */
  readonly further?: readonly { readonly needs: Permission; readonly on: (call: Call, place: Place) => string }[]
  /** The key that the permission is checked for. */
  readonly on?: (call: Call, place: Place) => string
  /** Set for a list that shows the caller's part, so that a role for another key gets an empty list. */
  readonly perItem?: true
  /** Set when a service account owns none of the things, or may not make the call. */
  readonly peopleOnly?: true
  /** Set when the key is in the body or query, so that no permission can be checked before they are read. */
  readonly keyInside?: true
  /** Set when the body may be anything. */
  readonly anyBody?: true
  /** Set when the route creates a thing for an unknown name in the path. */
  readonly makesNamed?: true
  /** Names of the path that must be ids: others are 400 there (docs/contract/conventions.md#identifiers). */
  readonly ids?: readonly string[]
  /** A query that breaks a rule of the route. */
  readonly badQuery?: string
  /** Set for a list with a cursor. */
  readonly secondPage?: SecondPage
  /**
   * Makes the things that one call uses up, for this caller, and names them by the texts that stand for them in the declared example: ids,
   * keys, tokens.
   */
  readonly things?: (place: Place, caller: Caller) => Texts | Promise<Texts>
  /** Changes the call where the declaration cannot hold all of it: signatures, the client that must send it. */
  readonly change?: (call: Call, place: Place) => Call | Promise<Call>
}

/** A route with the call of its declared example. */
export interface Example extends Walked {
  readonly call: (place: Place, caller: Caller) => Promise<Call>
}

/** Texts of a place by the texts of a declared example for which they are sent. */
export type Texts = Readonly<Record<string, string>>

/** Routes by method and path as they are declared, with the base of the public address. */
export type WalkedRoutes = Readonly<Record<string, Walked>>
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

/** A call that sends the URL-encoded fields of a page. */
export const form = (fields: Readonly<Record<string, string>>): Call => ({
  type: 'application/x-www-form-urlencoded',
  body: new URLSearchParams(fields).toString(),
})

/** A date some days ahead, where the fixed one of a declared example would be wrong on another day. */
export const dayIn = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
