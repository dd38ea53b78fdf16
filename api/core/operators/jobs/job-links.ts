import { consoleAddress } from '#api/access/operator-session.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { findWorkspaceNames } from '#shared/core/workspaces/operator-store.ts'

/** What a job is called in links and titles: its kind and the end of its id. */
export const jobTitle = ({ kind, id }: { readonly kind: string; readonly id: string }): string => `${kind} #${id.slice(-6)}`

export const jobAddress = (scope: PlatformScope, id: string): string => consoleAddress(scope.config, `jobs/${id}`)

interface LinkedWorkspace {
  readonly text: string
  readonly address?: string
}

/** Names workspaces by their ids, with the addresses of their pages. One that was deleted keeps its id; null is the platform. */
export async function linkWorkspaces(
  scope: PlatformScope,
  ids: readonly (string | null)[],
): Promise<(id: string | null) => LinkedWorkspace> {
  const named = [...new Set(ids)].filter((id) => id !== null)
  const names = new Map(
    (named.length === 0 ? [] : await scope.db.query(findWorkspaceNames({ ids: named }))).map(({ id, name }) => [id, name]),
  )
  return (id) => {
    if (id === null) return { text: 'the platform' }
    const name = names.get(id)
    return name === undefined ? { text: id } : { text: name, address: consoleAddress(scope.config, `workspaces/${id}`) }
  }
}
