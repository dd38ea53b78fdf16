import pg from 'pg'

/** A statement as it went out. */
export interface Sent {
  readonly name: string | undefined
  readonly text: string
}

const sent = new Map<string, Sent>()
const ours = /^kontor (api|worker|release|command)/

/** Statements that Kontor's own connections have sent in this process since the last call, each text once. A test's connections have no name. */
export function takeSent(): readonly Sent[] {
  const taken = [...sent.values()]
  sent.clear()
  return taken
}

type Heard = (statement: Sent) => unknown
const listeners = new Set<Heard>()

/** Calls back with every statement that goes out, by whatever connection, until what it gives back is called. */
export function hearSent(heard: Heard): () => void {
  listeners.add(heard)
  return () => listeners.delete(heard)
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
  // Each workspace has a schema of its own, so that one statement comes in as many texts.
  if (text && ours.test(application)) sent.set(text.replaceAll(/ws_[0-9a-f]{32}/g, 'ws'), { name, text })
  return original.apply(this, given)
} as typeof pg.Client.prototype.query
