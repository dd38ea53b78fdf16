import type { Scope } from '#shared/scope/scope.ts'

/** Accounts of a workspace that a process remembers to have lines: a megabyte. */
const maxKnown = 10_000

/** The accounts of an entry that is about to be posted. */
export interface PostedAccounts {
  /** Those whose records must be looked for, each once, in the order of the lines. */
  readonly toLookFor: readonly string[]
  /** Remembers that all of them have lines, once they are posted. */
  readonly noteLines: () => void
}

/**
 * An account with lines stays (guard.ts), so once this process has posted to it, its record need not be looked for again. What a transaction
 * posts is not remembered: it may be taken back.
 */
export async function accountsOf(
  { cache, db, workspace }: Scope,
  lines: readonly { readonly accountId: string }[],
): Promise<PostedAccounts> {
  const known = await cache.remember(db, workspace.id, 'accounts with lines', async () => new Set<string>())
  const toLookFor = [...new Set(lines.map(({ accountId }) => accountId))].filter((id) => !known.has(id))
  return {
    toLookFor,
    noteLines: () => {
      if ('inTransaction' in db || known.size + toLookFor.length > maxKnown) return
      for (const id of toLookFor) known.add(id)
    },
  }
}
