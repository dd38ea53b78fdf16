/**
 * For whom a process works: a workspace's id, after the id of its share where that is another one, or a person's id outside of workspaces.
 * Null for the platform's own work and for visitors outside of workspaces.
 */
export type WorkOwner = string | null

/** A workspace as owner of work. */
export const workOwner = (workspaceId: string, shareId: string): string =>
  shareId === workspaceId ? workspaceId : `${shareId}/${workspaceId}`

/** The share of an owner. Shares of connections, searches, the thread and large answers go by it. */
export const shareOf = <Owner extends WorkOwner>(owner: Owner): Owner => (owner?.split('/', 1)[0] ?? null) as Owner

/** The workspace of an owner that is one. */
export const workspaceOf = (owner: string): string => owner.slice(owner.indexOf('/') + 1)
