import { type LinkedPage, type LinkedQuery, listByCreation } from '#shared/db/lists.ts'
import type { Surroundings } from '#shared/flows/block.ts'
import type { Node } from '#shared/flows/definition.ts'
import type { FlowOutline, FlowSummary } from '#shared/flows/flow.ts'
import { outlineOf, surroundingsOf } from '#shared/flows/flows.ts'
import { findFlows, findNodes } from '#shared/flows/store.ts'
import type { Scope } from '#shared/scope/scope.ts'

type Row = Omit<FlowSummary, keyof FlowOutline> & { readonly node_bytes: number }

/** Bytes of nodes that are in memory at a time. */
const bytesAtOnce = 2_000_000

/** The flows that the caller may see, in the order of their creation, without nodes and edges. Throws VALIDATION_ERROR like `listByCreation`. */
export async function listFlows(scope: Scope, query: LinkedQuery = {}): Promise<LinkedPage<FlowSummary>> {
  const { db, workspace, actor } = scope
  const around = await surroundingsOf(scope)
  return listByCreation<Row, FlowSummary>(db, query, {
    list: `flows ${workspace.id}`,
    find: (...page) => findFlows(workspace.id, ...page),
    isVisible: ({ id }) => actor.policy.permits('flows:read', id) !== 'never',
    show: (rows) => summariesOf(scope, rows, around),
  })
}

/** What an overview needs of a flow. */
export type BriefFlow = Pick<FlowSummary, 'id' | 'name' | 'enabled' | 'trigger_kind' | 'next_run_at'>

/** All flows that the caller may see in brief, read by pages. */
export async function flowsInBrief(scope: Scope): Promise<BriefFlow[]> {
  const flows: BriefFlow[] = []
  let cursor: string | null | undefined
  do {
    const page: LinkedPage<FlowSummary> = await listFlows(scope, { limit: 200, ...(cursor ? { cursor } : {}) })
    flows.push(...page.items.map(({ id, name, enabled, trigger_kind, next_run_at }) => ({ id, name, enabled, trigger_kind, next_run_at })))
    cursor = page.next
  } while (cursor !== null)
  return flows
}

/** Summaries of flows. Their problems need the nodes, which are read a few at a time and let go of. */
async function* summariesOf({ db, workspace }: Scope, rows: readonly Row[], around: Surroundings): AsyncGenerator<FlowSummary> {
  for (const lot of lotsOf(rows)) {
    const asked = [lot.map(({ id }) => id), lot.map(({ version }) => version)]
    const found = await db.query<{ flow_id: string; nodes: Node[] }>(findNodes(workspace.id, ...asked))
    const nodesById = new Map(found.map(({ flow_id, nodes }) => [flow_id, nodes]))
    for (const { node_bytes: _, ...row } of lot) {
      yield { ...row, context: { ...row.context }, ...outlineOf({ nodes: nodesById.get(row.id) ?? [] }, around) }
    }
  }
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
