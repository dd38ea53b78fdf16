import { createHash } from 'node:crypto'
import type { KnownReferences } from '#shared/core/automation/block.ts'
import type { FlowNode } from '#shared/core/automation/node.ts'
import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { flowOutlineOf, loadSurroundings } from '#shared/features/flows/definitions/flows.ts'
import type { FlowOutline, FlowSummary } from '#shared/features/flows/definitions/schemas.ts'
import { findFlowNodes, findFlows } from '#shared/features/flows/store.ts'
import { type LinkedPage, type LinkedQuery, listByCreation } from '#shared/platform/db/lists.ts'
import { computeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

type Row = Omit<FlowSummary, keyof FlowOutline> & { readonly node_bytes: number }

/** Bytes of nodes, as they are compressed in the table, that are read at a time: the text may be fifty times as long. */
const bytesAtOnce = 20_000

/** The flows that the caller may see, in the order of their creation, without nodes and edges. Throws VALIDATION_ERROR like `listByCreation`. */
export async function listFlows(scope: Scope, query: LinkedQuery = {}): Promise<LinkedPage<FlowSummary>> {
  const { db, workspace } = scope
  const around = await loadSurroundings(scope)
  return listByCreation<Row, FlowSummary>(db, query, {
    list: `flows ${workspace.id}`,
    find: (...page) => findFlows(workspace.id, ...page),
    isVisible: ({ id }) => permits(scope, 'flows:read', id),
    show: (rows) => summariesOf(scope, rows, around),
  })
}

/** What an overview needs of a flow. */
export type BriefFlow = Pick<FlowSummary, 'id' | 'name' | 'enabled' | 'trigger_kind' | 'next_run_at'>

/** All flows that the caller may see in brief, read by pages. */
export async function listBriefFlows(scope: Scope): Promise<BriefFlow[]> {
  const flows: BriefFlow[] = []
  let cursor: string | null | undefined
  do {
    const page: LinkedPage<FlowSummary> = await listFlows(scope, { limit: 200, ...(cursor ? { cursor } : {}) })
    flows.push(...page.items.map(({ id, name, enabled, trigger_kind, next_run_at }) => ({ id, name, enabled, trigger_kind, next_run_at })))
    cursor = page.next
  } while (cursor !== null)
  return flows
}

/** Summaries of flows. Their outlines need the nodes, which are read a few flows at a time and let go of. */
async function* summariesOf({ db, workspace }: Scope, rows: readonly Row[], around: KnownReferences): AsyncGenerator<FlowSummary> {
  const digest = digestOf(around)
  const budget = computeBudget(workspace.id, { steps: Number.POSITIVE_INFINITY, bound: '' })
  const summaryOf = ({ node_bytes: _, ...row }: Row, outline: FlowOutline) => ({ ...row, context: { ...row.context }, ...outline })
  for (const lot of lotsOf(rows)) {
    const unknown = lot.filter((row) => outlines.get(nameOf(row))?.digest !== digest)
    const asked = [unknown.map(({ id }) => id), unknown.map(({ version }) => version)]
    const found = unknown.length > 0 ? await db.query<{ flow_id: string; nodes: FlowNode[] }>(findFlowNodes(workspace.id, ...asked)) : []
    const made = new Map(found.map(({ flow_id, nodes }) => [flow_id, flowOutlineOf({ nodes }, around)]))
    for (const row of lot) {
      const outline = made.get(row.id) ?? outlines.get(nameOf(row))?.outline ?? flowOutlineOf({ nodes: [] }, around)
      if (made.has(row.id)) remember(nameOf(row), { digest, outline })
      yield summaryOf(row, outline)
    }
    await budget.pause()
  }
}

/**
 * Outlines of definitions that were listed lately, with the digest of what they were judged by. A definition never changes, so reading large
 * nodes again would give the same (120 flows of 250 KB: 0.5 s a list).
 */
const outlines = new Map<string, { readonly digest: string; readonly outline: FlowOutline }>()
/** Bounds of what is remembered: definitions, and their problems together, of some 100 bytes each. */
const [mostOutlines, mostProblems] = [2_000, 50_000]
let problemCount = 0

const nameOf = ({ id, version }: Row): string => `${id} ${version}`

function remember(name: string, entry: { readonly digest: string; readonly outline: FlowOutline }): void {
  forget(name)
  outlines.set(name, entry)
  problemCount += entry.outline.problems.length
  for (const oldest of outlines.keys()) {
    if (outlines.size <= mostOutlines && problemCount <= mostProblems) return
    forget(oldest)
  }
}

function forget(name: string): void {
  problemCount -= outlines.get(name)?.outline.problems.length ?? 0
  outlines.delete(name)
}

function digestOf(around: KnownReferences): string {
  const lists = Object.values(around).map((names: ReadonlySet<string> | ReadonlyMap<string, ReadonlySet<string>>) =>
    names instanceof Map ? [...names].map(([key, fields]) => [key, [...fields]]) : [...names],
  )
  return createHash('sha256').update(JSON.stringify(lists)).digest('base64')
}

function lotsOf(rows: readonly Row[]): Row[][] {
  const lots: Row[][] = []
  let room = 0
  for (const row of rows) {
    room -= row.node_bytes
    if (room < 0 || lots.length === 0) {
      lots.push([])
      room = bytesAtOnce - row.node_bytes
    }
    lots.at(-1)?.push(row)
  }
  return lots
}
