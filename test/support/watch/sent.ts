import pg from 'pg'

/** A statement that was sent. */
export interface Sent {
  readonly name: string | undefined
  readonly text: string
}

const sent = new Map<string, Sent>()
/** Keys of named texts. */
const keys = new Map<string, string>()
const ours = /^kontor (api|worker|release|command)/

/** Statements that Kontor's own connections sent in this process since the last call, each text once. A test's connections have no name. */
export function takeSent(): readonly Sent[] {
  const taken = [...sent.values()]
  sent.clear()
  return taken
}

type Heard = (statement: Sent) => unknown
const listeners = new Set<Heard>()

/** Calls back with every statement that any connection sends, until the returned function is called. */
export function hearSent(heard: Heard): () => void {
  listeners.add(heard)
  return () => listeners.delete(heard)
}

/** The text without the schema of its workspace: each workspace has its own schema, so that one statement has many texts. */
function keyOf(name: string | undefined, text: string): string {
  const key = keys.get(text) ?? text.replaceAll(/ws_[0-9a-f]{32}/g, 'ws')
  if (name) keys.set(text, key)
  return key
}

interface Connection {
  readonly connectionParameters?: { readonly application_name?: string }
}

const original = pg.Client.prototype.query as (this: pg.Client, ...given: unknown[]) => unknown

pg.Client.prototype.query = function watched(this: pg.Client, ...given: unknown[]): unknown {
  const [query] = given as [string | Sent | undefined]
  const { text, name } = typeof query === 'string' ? { text: query, name: undefined } : (query ?? { text: '', name: undefined })
  const application = (this as unknown as Connection).connectionParameters?.application_name ?? ''
  for (const heard of listeners) heard({ name, text })
  if (text && ours.test(application)) sent.set(keyOf(name, text), { name, text })
  return original.apply(this, given)
} as typeof pg.Client.prototype.query
