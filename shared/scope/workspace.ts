import type { Executor } from '#shared/db/database.ts'
import { sql } from '#shared/db/statement.ts'
import type { AppName } from '#shared/kernel/apps.ts'

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

/** The columns of a workspace, in the order of its shape. */
export const workspaceColumns =
  'id, name, status, plan, owner_id, color, logo, default_currency, timezone, apps, multi_currency, books_closed_through, created_at'

const find = sql('find_workspace', `select ${workspaceColumns} from workspaces where id = $1`)
/** One workspace's settings, or undefined. */
export async function findWorkspace(db: Executor, id: string): Promise<Workspace | undefined> {
  return (await db.query<Workspace>(find(id)))[0]
}

const lock = sql('lock_workspace', `select ${workspaceColumns} from workspaces where id = $1 for no key update`)
/** The workspace as it is now; whoever else locks it waits until the transaction ends. */
export async function lockWorkspace(db: Executor, id: string): Promise<Workspace | undefined> {
  return (await db.query<Workspace>(lock(id)))[0]
}
