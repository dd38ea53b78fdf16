import { Invalidations } from '#shared/platform/db/cache/invalidations.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import type { Part } from '#shared/platform/kernel/process/part.ts'

/** A cached value, or one that is loading. */
interface Entry {
  readonly value: Promise<unknown>
  isLoading: boolean
}

/** The most scopes (workspaces, people) that one process caches; the oldest is dropped first. */
const maxScopes = 20_000

/**
 * A process's cache of slow-changing data: roles, members, keys, sessions, settings, types. Every entry belongs to a scope, the id of a
 * workspace or person, and is dropped when that scope changes. Call `refresh` once at the start of a unit of work: entries are then as
 * current as a fresh read at that moment.
 */
export class Cache {
  readonly #scopes = new Map<string, Map<string, Entry>>()
  readonly #changes: Invalidations
  #drops = 0

  constructor(databaseUrl: string, name: string, part?: Part) {
    this.#changes = new Invalidations(databaseUrl, name, (scope) => this.drop(scope), part)
  }

  /** Whether its connection to the database is open. */
  get isOpen(): boolean {
    return this.#changes.isOpen
  }

  /** Id of the server process of its connection, which it opens if necessary. Throws UNAVAILABLE. */
  readBackend(): Promise<number> {
    return this.#changes.readBackend()
  }

  /** Increases with every drop; an unchanged number means that nothing was dropped. */
  get dropCount(): number {
    return this.#drops
  }

  /** Resolves once every change committed before this call has been dropped from the cache. */
  refresh(): Promise<void> {
    return this.#changes.refresh()
  }

  /**
   * The changes that this process has applied; a verified statement (verification.ts) returns the later ones. See `Invalidations.position`.
   */
  position(): ReturnType<Invalidations['position']> {
    return this.#changes.position()
  }

  applyInvalidations(...found: Parameters<Invalidations['applyInvalidations']>): void {
    this.#changes.applyInvalidations(...found)
  }

  /**
   * Returns the cached value of `key` in `scope`, or caches the result of `load`. A failed or undefined load is not cached. `load` reads
   * through `db`. Within a transaction it loads the value itself instead of waiting for another caller's load: that load may need a
   * connection of the pool, and all connections may be held by callers that wait for this transaction.
   */
  remember<T>(db: Executor, scope: string, key: string, load: () => Promise<T>): Promise<T> {
    const entries = this.#entries(scope)
    const known = entries.get(key)
    if (known) return known.isLoading && 'inTransaction' in db ? load() : (known.value as Promise<T>)
    const value = load()
    const entry: Entry = { value, isLoading: true }
    entries.set(key, entry)
    const remove = () => {
      if (entries.get(key) === entry) entries.delete(key)
    }
    value.then((loaded) => {
      entry.isLoading = false
      if (loaded === undefined) remove()
    }, remove)
    return value
  }

  /** Drops the entries of a scope, or of all scopes when it is undefined. */
  drop(scope: string | undefined): void {
    this.#drops += 1
    if (scope === undefined) this.#scopes.clear()
    else this.#scopes.delete(scope)
  }

  async close(): Promise<void> {
    await this.#changes.close()
  }

  #entries(scope: string): Map<string, Entry> {
    const known = this.#scopes.get(scope)
    if (known) return known
    if (this.#scopes.size >= maxScopes) this.#scopes.delete(this.#scopes.keys().next().value ?? '')
    const entries = new Map<string, Entry>()
    this.#scopes.set(scope, entries)
    return entries
  }
}
