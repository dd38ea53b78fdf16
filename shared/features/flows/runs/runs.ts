import type { BlockView } from '#shared/core/automation/block.ts'
import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { blockKindOf, blockKinds } from '#shared/features/flows/blocks.ts'
import { requireFlowId } from '#shared/features/flows/definitions/flows.ts'
import { loadCompiledFlow } from '#shared/features/flows/execution/load.ts'
import { createRecordViewer } from '#shared/features/flows/runs/record-outputs.ts'
import type {
  FlowRunPage,
  FlowRunQuery,
  FlowRunSummary,
  FlowRunView,
  FlowStepView,
  RunError,
  TriggerVisibility,
} from '#shared/features/flows/runs/schemas.ts'
import { findFlowOfRuns, findRun, findRuns, findRunsOfFlow, findSteps } from '#shared/features/flows/runs/views-store.ts'
import { blocksDerivedFromTrigger } from '#shared/features/flows/triggers/derived-blocks.ts'
import { loadTriggerAccess, type TriggerAccess } from '#shared/features/flows/triggers/trigger-access.ts'
import { makeCursor, readCursor } from '#shared/platform/kernel/cursor.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import { isDay, toUtcInstant } from '#shared/platform/kernel/time/instant.ts'

/** How many runs a flow's own list has (document 2, Flows). */
const runsOfFlow = 50

/** Pages of runs that are read for one that the caller may see, where its roles show it some flows only. */
const mostPages = 20

const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

type Row = Omit<FlowRunSummary, 'error'> & {
  readonly error: RunError | null
  readonly guard: TriggerVisibility | null
  readonly has_input: boolean
}

/** The id of a flow whose runs can be looked at: of one that there is, or of one that was deleted. Throws NOT_FOUND. */
export async function requireFlowWithRuns(scope: Scope, id: string): Promise<string> {
  try {
    return (await requireFlowId(scope, id)).id
  } catch (error) {
    if (!(error instanceof Problem) || !isUuid(id)) throw error
    const [row] = await scope.db.query<{ flow_id: string }>(findFlowOfRuns(scope.workspace.id, id))
    if (!row) throw error
    return row.flow_id
  }
}

/** The last runs of a flow, newest first. */
export async function listRunsOfFlow(scope: Scope, flowId: string): Promise<FlowRunSummary[]> {
  const rows = await scope.db.query<Row>(findRunsOfFlow(scope.workspace.id, flowId, runsOfFlow))
  return summariesOf(scope, rows)
}

/** The runs of all flows that the caller may see, newest first. Throws VALIDATION_ERROR for a damaged cursor and a `from` that is no time. */
export async function listFlowRuns(scope: Scope, { status, flow, from, limit, cursor }: FlowRunQuery): Promise<FlowRunPage> {
  const since = from === undefined ? null : sinceOf(from)
  const list = `flow runs ${scope.workspace.id} ${status ?? ''} ${flow ?? ''} ${since ?? ''}`
  let after = cursor === undefined ? highestId : positionOf(list, cursor)
  const runs: FlowRunSummary[] = []
  for (let pages = 0; pages < mostPages; pages++) {
    const rows = await scope.db.query<Row>(findRuns(scope.workspace.id, after, status, flow, since, limit + 1))
    const seen = rows.slice(0, limit).filter(({ flow_id }) => permits(scope, 'flows:read', flow_id))
    const room = limit - runs.length
    runs.push(...(await summariesOf(scope, seen.slice(0, room))))
    const isLast = rows.length <= limit
    if (isLast && seen.length <= room) return { runs, next_cursor: null }
    after = (seen.length > room ? runs.at(-1)?.id : rows[limit - 1]?.id) ?? after
    if (runs.length === limit) break
  }
  return { runs, next_cursor: makeCursor(list, after) }
}

/** A run of a flow with its steps, each with as much of its output as the caller may see. Throws NOT_FOUND. */
export async function getFlowRun(scope: Scope, flowId: string, id: string): Promise<FlowRunView> {
  const { workspace, db } = scope
  const [row] = isUuid(id) ? await db.query<Row>(findRun(workspace.id, flowId, id)) : []
  if (!row) throw problem('NOT_FOUND')
  const steps = await db.query<StepRow>(findSteps(workspace.id, row.id))
  const sight = (await sightsOf(scope, [row])).get(row.id) ?? unseen
  const isHidden = sight.isFullyVisible ? () => false : await derivesIn(scope, row)
  const views = await viewsOf(scope, flowId, steps, isHidden)
  return { ...summaryOf(scope, row, sight), steps: views }
}

interface StepRow extends Omit<FlowStepView, 'error' | 'output' | 'output_cut'> {
  readonly output: unknown
  readonly is_cut: boolean
  readonly error: RunError | null
}

/** Who may change a flow sees what functions, calls and messages gave in its runs. */
const isEditor = (scope: Scope, flowId: string): boolean => permits(scope, 'flows:update', flowId)

const unseen: TriggerAccess = { isIdVisible: false, isFullyVisible: false }

const sightsOf = (scope: Scope, rows: readonly Row[]): Promise<ReadonlyMap<string, TriggerAccess>> =>
  loadTriggerAccess(
    scope,
    rows.map(({ id, trigger, guard, has_input }) => ({ id, trigger, guard, hasInput: has_input })),
  )

async function summariesOf(scope: Scope, rows: readonly Row[]): Promise<FlowRunSummary[]> {
  const sights = await sightsOf(scope, rows)
  return rows.map((row) => summaryOf(scope, row, sights.get(row.id) ?? unseen))
}

/** A failure's words may repeat what set the run off, so only those who may see that read them. */
function summaryOf(
  scope: Scope,
  { error, guard: _, has_input: __, ...row }: Row,
  { isIdVisible, isFullyVisible }: TriggerAccess,
): FlowRunSummary {
  const { trigger } = row
  const isEvent = trigger.kind === 'calendar'
  return {
    ...row,
    trigger: isIdVisible ? trigger : { ...trigger, record_id: null, ...(isEvent ? { object_type: null } : {}) },
    ...(error ? { error: visibleErrorText(error, isFullyVisible && isEditor(scope, row.flow_id)) } : {}),
  }
}

/** Tells the blocks whose outputs derive from what set the run off; all of them where its definition is gone. */
async function derivesIn(scope: Scope, { flow_id, version }: Row): Promise<(nodeId: string) => boolean> {
  const score = await loadCompiledFlow(scope, scope.workspace.id, flow_id, version)
  if (!score) return () => true
  const derived = blocksDerivedFromTrigger(score.graph)
  return (nodeId) => derived.has(nodeId)
}

/** The code and block of a failure; for those who may change the flow also its words, which may hold what a record or a call said. */
export function visibleErrorText({ code, message, node_id }: RunError, inFull: boolean): string {
  const where = node_id === null ? code : `${code} at ${node_id}`
  return inFull ? `${where}: ${message}` : where
}

async function viewsOf(
  scope: Scope,
  flowId: string,
  steps: readonly StepRow[],
  isHidden: (nodeId: string) => boolean,
): Promise<FlowStepView[]> {
  const seesAll = isEditor(scope, flowId)
  const records = await createRecordViewer(
    scope,
    steps.flatMap(({ node_type, output, is_cut }) => (isRecord(node_type) && !is_cut ? [output] : [])),
  )
  return steps.map(({ output, is_cut, error, ...step }) => {
    if (step.status === 'failed')
      return { ...step, ...(error ? { error: visibleErrorText(error, seesAll && !isHidden(step.node_id)) } : {}) }
    if (isRecord(step.node_type)) return is_cut ? step : { ...step, output: records(output) }
    if (isHidden(step.node_id) || (!seesAll && shownOf(step.node_type) !== 'readers')) return step
    return { ...step, output, ...(is_cut ? { output_cut: true } : {}) }
  })
}

const shownOf = (type: string): string => {
  const kind = blockKindOf(type)
  return kind && !kind.isTrigger ? kind.shown : 'editors'
}
const isRecord = (type: string): boolean => shownOf(type) === 'record'

function positionOf(list: string, cursor: string): string {
  const id = readCursor(list, cursor)
  if (!isUuid(id)) throw problem('VALIDATION_ERROR', 'cursor is damaged')
  return id
}

function sinceOf(from: string): string {
  const instant = toUtcInstant(from) ?? (isDay(from) ? `${from}T00:00:00Z` : undefined)
  if (instant === undefined) throw problem('VALIDATION_ERROR', `from must be an instant as RFC 3339 writes it, or YYYY-MM-DD, got ${from}`)
  return instant
}

/** Every kind of trigger and block, for editors that draw flows. */
export const listBlockKinds = (): BlockView[] =>
  blockKinds.map((kind) => ({
    type: kind.type,
    label: kind.label,
    description: kind.description,
    is_trigger: kind.isTrigger,
    handles: [...kind.handles],
    settings: kind.settings.json as unknown as Record<string, unknown>,
    required: [...kind.required],
    output: kind.isTrigger ? { ...kind.sample } : (kind.output as Record<string, unknown>),
    app: kind.isTrigger ? null : kind.app,
  }))
