import { sql } from '#shared/db/statement.ts'

/** The columns of a workspace, in the order of its shape. */
export const workspaceColumns =
  'id, name, status, plan, owner_id, color, logo, default_currency, timezone, apps, multi_currency, books_closed_through, created_at'

/** One workspace's settings. Values: id. */
export const findWorkspaceRow = sql('find_workspace', `select ${workspaceColumns} from workspaces where id = $1`)

/** Locks a workspace and reads it. Values: id. */
export const lockWorkspaceRow = sql('lock_workspace', `select ${workspaceColumns} from workspaces where id = $1 for no key update`)
