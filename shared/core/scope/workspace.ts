import { findWorkspaceRow, lockWorkspaceRow } from '#shared/core/scope/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import type { AppName } from '#shared/platform/kernel/apps.ts'

/** A workspace's settings, as every piece of work in it needs them (decisions, People, keys, workspaces). */
export interface Workspace {
  readonly id: string
  readonly name: string
  readonly status: 'provisioning' | 'active' | 'suspended'
  readonly plan: 'free' | 'paid'
  readonly owner_id: string
  /** `#rrggbb`, or null: what pages of the workspace are coloured by. */
  readonly color: string | null
  /** Path of a file of its assets, or null: the picture on pages of the workspace. */
  readonly logo: string | null
  readonly default_currency: string
  readonly timezone: string
  readonly apps: Readonly<Record<AppName, boolean>>
  readonly multi_currency: boolean
  /** The last day on which nothing can be posted any more, YYYY-MM-DD; null while no book is closed. */
  readonly books_closed_through: string | null
  readonly created_at: string
}

/** One workspace's settings, or undefined. */
export async function findWorkspace(db: Executor, id: string): Promise<Workspace | undefined> {
  return (await db.query<Workspace>(findWorkspaceRow(id)))[0]
}

/** The workspace as it is now; whoever else locks it waits until the transaction ends. */
export async function lockWorkspace(db: Executor, id: string): Promise<Workspace | undefined> {
  return (await db.query<Workspace>(lockWorkspaceRow(id)))[0]
}
