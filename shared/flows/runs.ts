import type { BlockView } from '#shared/flows/block.ts'
import { blockKinds, kindOf } from '#shared/flows/blocks.ts'
import { requireFlow } from '#shared/flows/flows.ts'
import type { RunError, RunPage, RunQuery, RunSummary, RunView, StepView } from '#shared/flows/run.ts'
import { recordViewer } from '#shared/flows/run-records.ts'
import { findRun, findRunFlow, findRuns, findRunsOfFlow, findSteps } from '#shared/flows/run-views-store.ts'
import { makeCursor, readCursor } from '#shared/kernel/cursor.ts'
import { Problem, problem } from '#shared/kernel/errors.ts'
import { isUuid } from '#shared/kernel/ids.ts'
import { isDay, utcInstant } from '#shared/kernel/instant.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** How many runs a flow's own list has (document 2, Flows). */
const runsOfFlow = 50

/** Pages of runs that are read for one that the caller may see, where its roles show it some flows only. */
const mostPages = 20

const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

type Row = Omit<RunSummary, 'error'> & { readonly error: RunError | null }

/** The id of a flow whose runs can be looked at: of one that there is, or of one that was deleted. Throws NOT_FOUND. */
export async function requireRunFlow(scope: Scope, id: string): Promise<string> {
  try {
    return await requireFlow(scope, id)
  } catch (error) {
    if (!(error instanceof Problem) || !isUuid(id)) throw error
    const [row] = await scope.db.query<{ flow_id: string }>(findRunFlow(scope.workspace.id, id))
    if (!row) throw error
    return row.flow_id
  }
}

/** The last runs of a flow, newest first. */
export async function listRunsOfFlow(scope: Scope, flowId: string): Promise<RunSummary[]> {
  const rows = await scope.db.query<Row>(findRunsOfFlow(scope.workspace.id, flowId, runsOfFlow))
  return rows.map((row) => summaryOf(scope, row))
}

/** The runs of all flows that the caller may see, newest first. Throws VALIDATION_ERROR for a damaged cursor and a `from` that is no time. */
export async function listRuns(scope: Scope, { status, flow, from, limit, cursor }: RunQuery): Promise<RunPage> {
  const since = from === undefined ? null : sinceOf(from)
  const list = `flow runs ${scope.workspace.id} ${status ?? ''} ${flow ?? ''} ${since ?? ''}`
  let after = cursor === undefined ? highestId : positionOf(list, cursor)
  const runs: RunSummary[] = []
  for (let pages = 0; pages < mostPages; pages++) {
    const rows = await scope.db.query<Row>(findRuns(scope.workspace.id, after, status, flow, since, limit + 1))
    const seen = rows.slice(0, limit).filter(({ flow_id }) => scope.actor.policy.permits('flows:read', flow_id) !== 'never')
    const room = limit - runs.length
    runs.push(...seen.slice(0, room).map((row) => summaryOf(scope, row)))
    const isLast = rows.length <= limit
    if (isLast && seen.length <= room) return { runs, next_cursor: null }
    after = (seen.length > room ? runs.at(-1)?.id : rows[limit - 1]?.id) ?? after
    if (runs.length === limit) break
  }
  return { runs, next_cursor: makeCursor(list, after) }
}

/** A run of a flow with its steps, each with as much of its output as the caller may see. Throws NOT_FOUND. */
export async function getRun(scope: Scope, flowId: string, id: string): Promise<RunView> {
  const { workspace, db } = scope
  const [row] = isUuid(id) ? await db.query<Row>(findRun(workspace.id, flowId, id)) : []
  if (!row) throw problem('NOT_FOUND')
  const steps = await db.query<StepRow>(findSteps(workspace.id, row.id))
  const views = await viewsOf(scope, flowId, steps)
  return { ...summaryOf(scope, row), steps: views }
}

interface StepRow extends Omit<StepView, 'error' | 'output' | 'output_cut'> {
  readonly output: unknown
  readonly is_cut: boolean
  readonly error: RunError | null
}

/** Who may change a flow sees what functions, calls and messages gave in its runs. */
const isEditor = ({ actor }: Scope, flowId: string): boolean => actor.policy.permits('flows:update', flowId) !== 'never'

function summaryOf(scope: Scope, { error, ...row }: Row): RunSummary {
  return { ...row, ...(error ? { error: shownError(error, isEditor(scope, row.flow_id)) } : {}) }
}

/** The code and block of a failure; for those who may change the flow also its words, which may hold what a record or a call said. */
export function shownError({ code, message, node_id }: RunError, inFull: boolean): string {
  const where = node_id === null ? code : `${code} at ${node_id}`
  return inFull ? `${where}: ${message}` : where
}

async function viewsOf(scope: Scope, flowId: string, steps: readonly StepRow[]): Promise<StepView[]> {
  const seesAll = isEditor(scope, flowId)
  const records = await recordViewer(
    scope,
    steps.flatMap(({ node_type, output, is_cut }) => (isRecord(node_type) && !is_cut ? [output] : [])),
  )
  return steps.map(({ output, is_cut, error, ...step }) => {
    if (step.status === 'failed') return { ...step, ...(error ? { error: shownError(error, seesAll) } : {}) }
    if (isRecord(step.node_type)) return is_cut ? step : { ...step, output: records(output) }
    if (!seesAll && shownOf(step.node_type) !== 'readers') return step
    return { ...step, output, ...(is_cut ? { output_cut: true } : {}) }
  })
}

const shownOf = (type: string): string => {
  const kind = kindOf(type)
  return kind && !kind.isTrigger ? kind.shown : 'editors'
}
const isRecord = (type: string): boolean => shownOf(type) === 'record'

function positionOf(list: string, cursor: string): string {
  const id = readCursor(list, cursor)
  if (!isUuid(id)) throw problem('VALIDATION_ERROR', 'cursor is damaged')
  return id
}

function sinceOf(from: string): string {
  const instant = utcInstant(from) ?? (isDay(from) ? `${from}T00:00:00Z` : undefined)
  if (instant === undefined) throw problem('VALIDATION_ERROR', `from must be an instant as RFC 3339 writes it, or YYYY-MM-DD, got ${from}`)
  return instant
}

/** Every kind of trigger and block, for editors that draw flows. */
export const blockCatalogue = (): BlockView[] =>
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
