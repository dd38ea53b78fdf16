import type { ApiServices } from '#api/http/services.ts'
import { createFormTokens } from '#api/pages/fields/form.ts'
import { basePathOf } from '#api/pages/page.ts'
import { findSession, type OperatorSession, operatorSessionHours } from '#shared/core/operators/sessions.ts'
import type { Operator, PlatformScope, Principal } from '#shared/core/scope/scope.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { hourMs } from '#shared/platform/kernel/time/units.ts'

/** An operator who calls: by a session token, or with a session of the console. */
export interface OperatorCaller {
  readonly principal: Principal
  readonly operator: Operator
  readonly operatorSessionId?: string
}

/** The address of a page of the console on this server. */
export const consoleAddress = ({ publicUrl }: Pick<Config, 'publicUrl'>, path = ''): string =>
  `${basePathOf(publicUrl)}/operator${path === '' ? '' : `/${path}`}`

const isSecure = (publicUrl: string): boolean => new URL(publicUrl).protocol === 'https:'

/**
 * Name of the cookie. With https it begins with `__Host-`: a browser then takes it from this host alone, encrypted, and refuses one that
 * another host of the domain has set.
 */
export const cookieName = (publicUrl: string): string => (isSecure(publicUrl) ? '__Host-kontor_operator' : 'kontor_operator')

/**
 * The header Set-Cookie that keeps a token; null removes it. A browser takes `__Host-` with the path `/` only, so with https other pages of
 * this server are sent the cookie too; they do not read it.
 */
export function operatorCookie(publicUrl: string, token: string | null): string {
  const path = isSecure(publicUrl) ? '/' : consoleAddress({ publicUrl })
  const maxAge = token === null ? 0 : (operatorSessionHours * hourMs) / 1_000
  const attributes = [`Path=${path}`, `Max-Age=${maxAge}`, 'HttpOnly', 'SameSite=Strict', ...(isSecure(publicUrl) ? ['Secure'] : [])]
  return [`${cookieName(publicUrl)}=${token ?? ''}`, ...attributes].join('; ')
}

/** The session of the console that a header Cookie proves; undefined for none. */
export async function readOperatorSession(
  cookie: string,
  { config, db, now }: Pick<PlatformScope, 'config' | 'db' | 'now'>,
): Promise<OperatorSession | undefined> {
  const name = cookieName(config.publicUrl)
  const pairs = cookie.split(';').map((pair) => pair.trim().split('='))
  const [, token] = pairs.find(([key]) => key === name) ?? []
  return token ? findSession(db, token, now()) : undefined
}

/** The operator of a request to a page of the console. Throws UNAUTHORIZED without a session of the console. */
export async function authenticatePage(cookie: string, { config, database, now }: ApiServices): Promise<OperatorCaller> {
  const session = await readOperatorSession(cookie, { config, db: database, now })
  if (!session) throw problem('UNAUTHORIZED', 'Only operators who have signed in to the console see this page')
  return { principal: session.principal, operator: session.operator, operatorSessionId: session.id }
}

const formTokens = createFormTokens('operator console')

/** What the form token of the form to sign in is made for, instead of a session. */
export const signInSubject = 'sign-in'

/** The form token of a session's pages. */
export const operatorFormToken = (scope: Pick<PlatformScope, 'config'>, sessionId: string): string => formTokens.make(scope, sessionId)

/** Throws FORBIDDEN unless the fields of a POST hold the form token of the session that sends them. */
export function requireFormToken(scope: PlatformScope, sent: URLSearchParams, sessionId = scope.operatorSessionId): void {
  if (sessionId === undefined || !formTokens.isIn(sent, scope, sessionId)) {
    throw problem('FORBIDDEN', 'form_token must be the one in a page of your session: open the page again')
  }
}
