import { Invalidations } from '#shared/platform/db/cache/invalidations.ts'
import type { Executor } from '#shared/platform/db/database.ts'

/** Something that is remembered, or about to be. */
interface Fact {
  readonly value: Promise<unknown>
  isLoading: boolean
}

/** The most scopes (workspaces, people) whose facts one process keeps; the oldest go first. */
const maxScopes = 20_000

/**
 * What a process remembers of slow-changing facts: roles, members, keys, sessions, settings, types. Every entry belongs to a scope, the
 * id of a workspace or person, and goes when that scope changes. Call `settle` once at the start of a piece of work; what is remembered
 * after it is as true as a fresh read would have been at that moment.
 */
export class Cache {
  readonly #scopes = new Map<string, Map<string, Fact>>()
  readonly #changes: Invalidations
  #drops = 0

  constructor(databaseUrl: string, name: string) {
    this.#changes = new Invalidations(databaseUrl, name, (scope) => this.drop(scope))
  }

  /** Grows whenever something is forgotten: the same number again means that nothing was. */
  get dropCount(): number {
    return this.#drops
  }

  /** Resolves once nothing older than this call is remembered. */
  refresh(): Promise<void> {
    return this.#changes.refresh()
  }

  /** See Changes: what lets a statement say whether caches hold, and what it found. */
  position(): ReturnType<Invalidations['position']> {
    return this.#changes.position()
  }

  applyInvalidations(...found: Parameters<Invalidations['applyInvalidations']>): void {
    this.#changes.applyInvalidations(...found)
  }

  /**
   * The remembered value of `key` in `scope`, or what `load` gives, which is then remembered. A failed or undefined load is not. `load`
   * reads through `db`: in a transaction it waits for nobody else's load, which may itself wait for a connection of the pool, and those are
   * perhaps all held by others who wait for this transaction.
   */
  remember<T>(db: Executor, scope: string, key: string, load: () => Promise<T>): Promise<T> {
    const entries = this.#entries(scope)
    const known = entries.get(key)
    if (known) return known.isLoading && 'inTransaction' in db ? load() : (known.value as Promise<T>)
    const value = load()
    const fact: Fact = { value, isLoading: true }
    entries.set(key, fact)
    const forget = () => {
      if (entries.get(key) === fact) entries.delete(key)
    }
    value.then((loaded) => {
      fact.isLoading = false
      if (loaded === undefined) forget()
    }, forget)
    return value
  }

  /** Forgets a scope; everything when it is undefined. */
  drop(scope: string | undefined): void {
    this.#drops += 1
    if (scope === undefined) this.#scopes.clear()
    else this.#scopes.delete(scope)
  }

  async close(): Promise<void> {
    await this.#changes.close()
  }

  #entries(scope: string): Map<string, Fact> {
    const known = this.#scopes.get(scope)
    if (known) return known
    if (this.#scopes.size >= maxScopes) this.#scopes.delete(this.#scopes.keys().next().value ?? '')
    const entries = new Map<string, Fact>()
    this.#scopes.set(scope, entries)
    return entries
  }
}
