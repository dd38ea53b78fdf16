import { consoleAddress, operatorFormToken } from '#api/access/operator-session.ts'
import { Reply } from '#api/http/reply/reply.ts'
import { formTokenInput } from '#api/pages/fields/form.ts'
import type { Page } from '#api/pages/page.ts'
import { type Html, template } from '#api/pages/template.ts'
import { operatorOf } from '#shared/core/operators/operators.ts'
import type { Operator, PlatformScope } from '#shared/core/scope/scope.ts'
import type { Problem } from '#shared/platform/kernel/errors.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** Properties of the routes of the console's pages. A POST names its origin and holds the form token of the session. */
export const consolePage = {
  tag: 'Operators',
  app: null,
  permission: 'operator',
  limit: null,
  framed: 'none',
  origins: 'named',
} as const

/** The fields of a form that has only a button. */
export const buttonForm = schema(t.Object(formTokenInput, { title: 'ConsoleButton' }))

/** The pages that the first one lists: path below `/operator`, title, content. */
const pages = [
  ['overview', 'Overview', 'What waits, runs and has failed, and the state of each part.'],
  ['kinds', 'Kinds of jobs', 'What waits and runs of each kind, how long it takes, and which workspaces it is for.'],
  ['jobs', 'Jobs', 'The jobs of all workspaces: why one waits, how one failed; retry, cancel and discard them.'],
  ['workers', 'Processes', 'Which processes live, and what they run.'],
  ['schedules', 'Schedules', 'Schedules of flows and maintenance tasks, with their last run.'],
  ['mails', 'Mails', 'Which mails wait or have failed, and why; try them at once.'],
  ['use', 'Use', 'What each workspace uses: calls, computing, database, jobs, rows and files.'],
  ['workspaces', 'Workspaces', 'All workspaces; suspend and resume them, change their plans.'],
  ['operators', 'Operators', 'Who sees this console, and who may act.'],
  ['log', 'Log', 'What operators did.'],
] as const
type ConsolePlace = '' | (typeof pages)[number][0]

interface ConsoleView {
  readonly links: readonly { readonly address: string; readonly title: string; readonly isHere: boolean }[]
  readonly operator: Operator
  readonly signOut: string
  /** Address of the stream, on pages that follow it. */
  readonly stream: string
  readonly formToken: string
  readonly error: string
  readonly content: string
}
const renderConsole = template<ConsoleView>(new URL('console.eta', import.meta.url))

interface Shown {
  readonly title: string
  /** The entry of the navigation that the page belongs to. */
  readonly place: ConsolePlace
  readonly content: Html
  /** Set where the page marks figures or tables that its script keeps new. Everything works without it. */
  readonly isLive?: true
  /** Why an action of the page was refused. */
  readonly failure?: Problem | undefined
  /** Set where the content shows the failure beside its field. */
  readonly isBesideField?: boolean
}

/** A page of the console, with links to all others, and the button to sign out. */
export function showConsole(scope: PlatformScope, { title, place, content, isLive, failure, isBesideField = false }: Shown): Page {
  const links = [['', 'Start'] as const, ...pages].map(([path, name]) => ({
    address: consoleAddress(scope.config, path),
    title: name,
    isHere: path === place,
  }))
  const body = renderConsole({
    links,
    operator: operatorOf(scope),
    signOut: consoleAddress(scope.config, 'sign-out'),
    stream: isLive ? consoleAddress(scope.config, 'stream') : '',
    formToken: formTokenOf(scope),
    error: isBesideField ? '' : (failure?.message ?? ''),
    content: content.text,
  })
  return { title, body, isWide: true, ...(isLive ? { script: 'live.js' } : {}), ...(failure ? { failure } : {}) }
}

/** The form token of the pages of a request's session. */
export const formTokenOf = (scope: PlatformScope): string => operatorFormToken(scope, scope.operatorSessionId ?? '')

/** The pages that the first one links to, with their content in a few words. */
export const listPages = (scope: PlatformScope) =>
  pages.map(([path, title, about]) => ({ address: consoleAddress(scope.config, path), title, about }))

/** The address of a page of the console with a query; names without a value are left out. */
export function queryAddress(scope: PlatformScope, path: string, query: Readonly<Record<string, string | number | undefined>>): string {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value))
  return consoleAddress(scope.config, given.size === 0 ? path : `${path}?${given}`)
}

/** The answer to a form: the browser loads this page, so that loading it again repeats nothing. */
export const seeOther = (address: string, headers: Readonly<Record<string, string>> = {}): Reply =>
  new Reply(null, { Location: address, 'Cache-Control': 'no-store', ...headers }, 303)

/** An instant to the second, in UTC. */
export const formatTime = (instant: string): string => `${instant.slice(0, 10)} ${instant.slice(11, 19)} UTC`
