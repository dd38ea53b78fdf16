import type { Scope } from '#shared/core/scope/scope.ts'

/** Account ids with lines that a process remembers per workspace, about 1 MB. */
const maxKnownIds = 10_000

/** The accounts of an entry to post. */
export interface PostedAccounts {
  /** Ids whose records must be checked, without duplicates, in the order of the lines. */
  readonly idsToCheck: readonly string[]
  /** Records, after posting, that these accounts have lines. */
  readonly rememberPosted: () => void
}

/**
 * Finds the accounts whose records a posting must check. An account with lines cannot be deleted (guard.ts), so an account that this
 * process has posted to is not checked again. Postings inside a transaction are not remembered, since it may roll back.
 */
export async function findAccountsToCheck(
  { cache, db, workspace }: Scope,
  lines: readonly { readonly accountId: string }[],
): Promise<PostedAccounts> {
  const knownIds = await cache.remember(db, workspace.id, 'accounts with lines', async () => new Set<string>())
  const toLookFor = [...new Set(lines.map(({ accountId }) => accountId))].filter((id) => !knownIds.has(id))
  return {
    idsToCheck: toLookFor,
    rememberPosted: () => {
      if ('inTransaction' in db || knownIds.size + toLookFor.length > maxKnownIds) return
      for (const id of toLookFor) knownIds.add(id)
    },
  }
}
