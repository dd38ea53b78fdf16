import type pg from 'pg'
import { exceptedTables } from '#test/support/watch/exceptions.ts'
import { type Sent, takeSent } from '#test/support/watch/sent.ts'
import { type PlanNode, type SharedTables, unboundTables } from '#test/support/watch/unbound.ts'

const held = new Set<string>()

/**
 * Statements of Kontor since the last call that read or change a shared table without its workspace: a second check beside the walks of the
 * routes. PostgreSQL plans each once in a process.
 */
export async function statementsWithoutWorkspace(db: pg.Pool): Promise<string[]> {
  const shared = await sharedTables(db)
  const complaints: string[] = []
  for (const statement of takeSent()) {
    if (held.has(statement.text)) continue
    held.add(statement.text)
    const complaint = await complaintOf(db, shared, statement)
    if (complaint) complaints.push(complaint)
  }
  return complaints
}

let known: SharedTables | undefined

/** The tables that all workspaces share: those with a column of the workspace, and that of the workspaces. */
export async function sharedTables(db: pg.Pool): Promise<SharedTables> {
  known ??= await findSharedTables(db)
  return known
}

async function findSharedTables(db: pg.Pool): Promise<SharedTables> {
  const { rows } = await db.query<{ table_name: string }>(
    `select table_name from information_schema.columns where table_schema = 'public' and column_name = 'workspace_id'`,
  )
  return new Map([...rows.map(({ table_name }) => [table_name, 'workspace_id'] as const), ['workspaces', 'id']])
}

/** The fault of a statement, or undefined. */
export async function complaintOf(db: pg.Pool, shared: SharedTables, { name, text }: Sent): Promise<string | undefined> {
  const schemas = new Set(text.match(/ws_[0-9a-f]{32}/g))
  if (schemas.size > 1) return `${name ?? ''} joins the tables of several workspaces: ${text}`
  const names = new RegExp(`\\b(${[...shared.keys()].join('|')})\\b`)
  if (!names.test(text) || !/^\s*(select|insert|update|delete|merge|with)\b/i.test(text)) return undefined
  const plan = await planOf(db, text)
  if (typeof plan === 'string') return schemas.size > 0 ? undefined : `${name ?? ''} cannot be explained (${plan}): ${text}`
  const excepted = exceptedTables(name, text)
  const unbound = unboundTables(plan, shared).filter((table) => !excepted.has(table))
  return unbound.length > 0 ? `${name ?? 'without a name'} reads ${unbound.join()} without its workspace: ${text}` : undefined
}

/** The plan of a statement for any parameters, or why there is none: a type's table may be deleted by now. */
async function planOf(db: pg.Pool, text: string): Promise<PlanNode | string> {
  try {
    const { rows } = await db.query(`explain (generic_plan, verbose, costs off, format json) ${text}`)
    return (rows[0] as { 'QUERY PLAN': readonly [{ Plan: PlanNode }] })['QUERY PLAN'][0].Plan
  } catch (error) {
    return (error as Error).message
  }
}
