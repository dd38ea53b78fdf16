/** The used part of a plan of EXPLAIN (VERBOSE, FORMAT JSON). */
export interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly Schema?: string
  readonly Alias?: string
  readonly Plans?: readonly PlanNode[]
  readonly [property: string]: unknown
}

/** Tables that all workspaces share, each with its column of the workspace. */
export type SharedTables = ReadonlyMap<string, string>

/** A scan of a shared table in a plan. */
interface Scan {
  readonly table: string
  /** The column of the workspace as conditions name it, such as `held.workspace_id`. */
  readonly column: string
}

const conditions = ['Index Cond', 'Filter', 'Recheck Cond', 'Hash Cond', 'Merge Cond', 'Join Filter', 'One-Time Filter', 'TID Cond']

/**
 * The shared tables that a plan reads without its workspace: where no condition makes the column equal to a parameter, a value derived from
 * one, or the workspace of another scan with such a condition. The plan counts, not the text of the statement.
 */
export function unboundTables(plan: PlanNode, shared: SharedTables): string[] {
  const nodes = [...allNodes(plan)]
  const scans = nodes.flatMap((node) => scanOf(node, shared))
  const equalities = nodes.flatMap((node) => conditions.flatMap((name) => equalitiesIn(String(node[name] ?? ''))))
  const columns = new Set(scans.map(({ column }) => column))
  const bound = new Set<string>()
  const holds = (column: string): boolean =>
    equalities.some(
      ([left, right]) =>
        (left === column && (bound.has(right) || !columns.has(right))) || (right === column && (bound.has(left) || !columns.has(left))),
    )
  for (let found = true; found; ) {
    const next = [...columns].find((column) => !bound.has(column) && holds(column))
    found = next !== undefined
    if (next) bound.add(next)
  }
  return [...new Set(scans.filter(({ column }) => !bound.has(column)).map(({ table }) => table))].sort()
}

function* allNodes(node: PlanNode): Generator<PlanNode> {
  yield node
  for (const child of node.Plans ?? []) yield* allNodes(child)
}

function scanOf(node: PlanNode, shared: SharedTables): Scan[] {
  const table = node['Relation Name'] ?? ''
  const column = shared.get(table)
  if (column === undefined || node.Schema !== 'public' || !node['Node Type'].endsWith('Scan')) return []
  return [{ table, column: `${node.Alias}.${column}` }]
}

/** `((a.x = $1) AND (b.y = a.x))` contains two equalities; conditions below an OR or in a subquery contain none. */
function equalitiesIn(condition: string): (readonly [string, string])[] {
  const parts = partsOf(unwrapped(condition))
  if (parts.length > 1) return parts.flatMap(equalitiesIn)
  const [, left, right] = /^(.+?) = (.+)$/.exec(unwrapped(condition)) ?? []
  return left && right ? [[left, right]] : []
}

/** Splits at every AND outside parentheses. */
function partsOf(text: string): string[] {
  const parts: string[] = []
  let [depth, from] = [0, 0]
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '(') depth += 1
    if (text[at] === ')') depth -= 1
    if (depth === 0 && text.startsWith(' AND ', at)) {
      parts.push(text.slice(from, at))
      from = at + ' AND '.length
    }
    if (depth === 0 && text.startsWith(' OR ', at)) return [text]
  }
  return [...parts, text.slice(from)]
}

/** The text without outer parentheses. */
function unwrapped(text: string): string {
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '(') depth += 1
    if (text[at] === ')') depth -= 1
    if (depth === 0 && at < text.length - 1) return text
  }
  return text.startsWith('(') ? unwrapped(text.slice(1, -1)) : text
}
