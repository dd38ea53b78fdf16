import { findWorkspaceRow, lockWorkspaceRow } from '#shared/core/scope/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import type { AppName } from '#shared/platform/kernel/apps.ts'

/** Settings of a workspace (decisions, People, keys, workspaces). */
export interface Workspace {
  readonly id: string
  readonly name: string
  readonly status: 'provisioning' | 'active' | 'suspended'
  readonly plan: 'free' | 'paid'
  readonly owner_id: string
  /** `#rrggbb` colour of the workspace's pages, or null. */
  readonly color: string | null
  /** Path of an asset file shown as the logo on the workspace's pages, or null. */
  readonly logo: string | null
  readonly default_currency: string
  readonly timezone: string
  readonly apps: Readonly<Record<AppName, boolean>>
  readonly multi_currency: boolean
  /** Last closed day, YYYY-MM-DD: nothing can be posted on it or before. Null while no book is closed. */
  readonly books_closed_through: string | null
  readonly created_at: string
}

/** Settings of one workspace, or undefined. */
export async function findWorkspace(db: Executor, id: string): Promise<Workspace | undefined> {
  return (await db.query<Workspace>(findWorkspaceRow(id)))[0]
}

/** Locks the workspace row until the transaction ends and returns its current settings; undefined when it does not exist. */
export async function lockWorkspace(db: Executor, id: string): Promise<Workspace | undefined> {
  return (await db.query<Workspace>(lockWorkspaceRow(id)))[0]
}
