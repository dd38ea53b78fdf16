import { createHash } from 'node:crypto'
import type { KnownReferences } from '#shared/core/automation/block.ts'
import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { flowOutlineOf, loadSurroundings } from '#shared/features/flows/definitions/flows.ts'
import type { FlowOutline, FlowSummary } from '#shared/features/flows/definitions/schemas.ts'
import { loadTestedTypes } from '#shared/features/flows/definitions/tested-types.ts'
import { findFlowNodes, findFlows, type ListedFlowRow } from '#shared/features/flows/store.ts'
import { type LinkedPage, type LinkedQuery, listByCreation } from '#shared/platform/db/lists.ts'
import { computeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

/** Bytes of nodes read per query. They count as stored, compressed; as text they may be fifty times as long. */
const batchBytes = 20_000

/** Lists the flows the caller may see, in order of creation, without nodes and edges. Throws VALIDATION_ERROR like `listByCreation`. */
export async function listFlows(scope: Scope, query: LinkedQuery): Promise<LinkedPage<FlowSummary>> {
  const known = await loadSurroundings(scope)
  return listByCreation(scope, query, {
    find: (afterTime, afterId, limit) => findFlows({ workspaceId: scope.workspace.id, afterTime, afterId, limit }),
    isVisible: ({ id }) => permits(scope, 'flows:read', id),
    show: (rows) => summariesOf(scope, rows, known),
  })
}

/** Fields of a flow that the overview needs. */
type BriefFlow = Pick<FlowSummary, 'id' | 'name' | 'enabled' | 'trigger_kind' | 'next_run_at'>

/** Lists all flows the caller may see in brief form; reads them page by page. */
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

/** Builds summaries. They need the nodes to derive the outlines; nodes are read and released in small batches. */
async function* summariesOf(scope: Scope, rows: readonly ListedFlowRow[], known: KnownReferences): AsyncGenerator<FlowSummary> {
  const { db, workspace } = scope
  const digest = digestOf(known)
  const budget = computeBudget(db.owner, { steps: Number.POSITIVE_INFINITY, bound: '' })
  const summaryOf = ({ node_bytes: _, ...row }: ListedFlowRow, outline: FlowOutline) => ({
    ...row,
    context: { ...row.context },
    ...outline,
  })
  for (const batch of batchesOf(rows)) {
    const unkept = new Set<string>()
    const unknown = batch.filter((row) => outlines.get(cacheKeyOf(row))?.digest !== digest)
    const places = { workspaceId: workspace.id, flowIds: unknown.map(({ id }) => id), versions: unknown.map(({ version }) => version) }
    const found = unknown.length > 0 ? await db.query(findFlowNodes(places)) : []
    const built = new Map<string, FlowOutline>()
    for (const { flow_id, nodes } of found) {
      const editor_id = unknown.find(({ id }) => id === flow_id)?.editor_id ?? null
      const testedTypes = await loadTestedTypes(scope, { nodes, editor_id })
      built.set(flow_id, flowOutlineOf({ nodes }, { ...known, testedTypes }))
      // The rights of its editor decide, too, and the digest does not hold them.
      if (testedTypes.size > 0) unkept.add(flow_id)
    }
    for (const row of batch) {
      const outline = built.get(row.id) ?? outlines.get(cacheKeyOf(row))?.outline ?? flowOutlineOf({ nodes: [] }, known)
      if (built.has(row.id) && !unkept.has(row.id)) remember(cacheKeyOf(row), { digest, outline })
      yield summaryOf(row, outline)
    }
    await budget.pause()
  }
}

/**
 * Outlines of recently listed definitions, each with a digest of the known references against which it was checked. A version of a
 * definition never changes, so its nodes need not be read again. Reading them took 0.5 s for a list of 120 flows of 250 KB.
 */
const outlines = new Map<string, { readonly digest: string; readonly outline: FlowOutline }>()
/** Bounds of `outlines`: the number of definitions, and the total number of their problems, which take about 100 bytes each. */
const [maxOutlines, maxProblems] = [2_000, 50_000]
let problemCount = 0

const cacheKeyOf = ({ id, version }: ListedFlowRow): string => `${id} ${version}`

function remember(key: string, entry: { readonly digest: string; readonly outline: FlowOutline }): void {
  forget(key)
  outlines.set(key, entry)
  problemCount += entry.outline.problems.length
  for (const oldest of outlines.keys()) {
    if (outlines.size <= maxOutlines && problemCount <= maxProblems) return
    forget(oldest)
  }
}

function forget(key: string): void {
  problemCount -= outlines.get(key)?.outline.problems.length ?? 0
  outlines.delete(key)
}

function digestOf({ testedTypes: _, ...known }: KnownReferences): string {
  const lists = Object.values(known).map((names: ReadonlySet<string> | ReadonlyMap<string, ReadonlySet<string>>) =>
    names instanceof Map ? [...names].map(([key, fields]) => [key, [...fields]]) : [...names],
  )
  return createHash('sha256').update(JSON.stringify(lists)).digest('base64')
}

function batchesOf(rows: readonly ListedFlowRow[]): ListedFlowRow[][] {
  const batches: ListedFlowRow[][] = []
  let freeBytes = 0
  for (const row of rows) {
    freeBytes -= row.node_bytes
    if (freeBytes < 0 || batches.length === 0) {
      batches.push([])
      freeBytes = batchBytes - row.node_bytes
    }
    batches.at(-1)?.push(row)
  }
  return batches
}
