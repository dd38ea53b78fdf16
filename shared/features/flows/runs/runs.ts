import type { FlowNode } from '#shared/core/automation/node.ts'
import { pathsIn } from '#shared/core/automation/template.ts'
import { recordAccessFor } from '#shared/core/records/access.ts'
import { testsOwnFields } from '#shared/core/records/blocks/tested-fields.ts'
import { isOfPresentField, seesEarlierFields, type Writing } from '#shared/core/records/earlier-fields.ts'
import { findRecordsByIds } from '#shared/core/records/query/records-by-ids.ts'
import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { findRecordType } from '#shared/core/types/record-type.ts'
import { blockKindOf } from '#shared/features/flows/blocks.ts'
import { requireFlow } from '#shared/features/flows/definitions/flows.ts'
import type { Graph } from '#shared/features/flows/definitions/graph.ts'
import { loadCompiledFlow } from '#shared/features/flows/execution/load.ts'
import { isRecordOutput } from '#shared/features/flows/execution/record-output.ts'
import type { FlowRunPage, FlowRunQuery, FlowRunSummary, FlowRunView, FlowStepView, RunError } from '#shared/features/flows/runs/schemas.ts'
import {
  type FlowRunViewRow,
  type FlowStepViewRow,
  findFlowOfRuns,
  findRun,
  findRuns,
  findRunsOfFlow,
  findSteps,
} from '#shared/features/flows/runs/views-store.ts'
import { loadTriggerAccess, noAccess, type TriggerAccess } from '#shared/features/flows/triggers/trigger-access.ts'
import { makeIdCursor, readIdCursor } from '#shared/platform/kernel/cursor.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import { isDay, toUtcInstant } from '#shared/platform/kernel/time/instant.ts'

/** Maximum number of runs in a flow's own list (docs/contract/flows.md#flow-routes). */
const maxRunsOfFlow = 50

/** Maximum number of pages of rows read for one response page, when the caller's roles show only some flows. */
const maxPages = 20

/** Id of an existing flow, or of a deleted one that still has runs. Throws NOT_FOUND. */
export async function requireFlowWithRuns(scope: Scope, id: string): Promise<string> {
  try {
    return (await requireFlow(scope, id)).id
  } catch (error) {
    if (!(error instanceof Problem) || !isUuid(id)) throw error
    const [row] = await scope.db.query(findFlowOfRuns({ workspaceId: scope.workspace.id, flowId: id }))
    if (!row) throw error
    return row.flow_id
  }
}

/** Lists the last 50 runs of a flow, newest first. */
export async function listRunsOfFlow(scope: Scope, flowId: string): Promise<FlowRunSummary[]> {
  const rows = await scope.db.query(findRunsOfFlow({ workspaceId: scope.workspace.id, flowId, limit: maxRunsOfFlow }))
  return summariesOf(scope, rows)
}

/** Lists runs of all flows the caller may see, newest first. Throws VALIDATION_ERROR for a damaged cursor or an invalid `from`. */
export async function listFlowRuns(scope: Scope, { status, flow, from, limit, cursor }: FlowRunQuery): Promise<FlowRunPage> {
  const createdFrom = from === undefined ? null : instantOf(from)
  const filters = { workspaceId: scope.workspace.id, status, flowId: flow, createdFrom }
  let after = readIdCursor(scope, cursor)
  const runs: FlowRunSummary[] = []
  for (let pages = 0; pages < maxPages; pages++) {
    const rows = await scope.db.query(findRuns({ ...filters, beforeId: after, limit: limit + 1 }))
    const seen = rows.slice(0, limit).filter(({ flow_id }) => permits(scope, 'flows:read', flow_id))
    const free = limit - runs.length
    runs.push(...(await summariesOf(scope, seen.slice(0, free))))
    const isLast = rows.length <= limit
    if (isLast && seen.length <= free) return { runs, next_cursor: null }
    after = (seen.length > free ? runs.at(-1)?.id : rows[limit - 1]?.id) ?? after
    if (runs.length === limit) break
  }
  return { runs, next_cursor: makeIdCursor(scope, after) }
}

/** Returns a run with its steps, whose outputs hold only what the caller may see. Throws NOT_FOUND. */
export async function getFlowRun(scope: Scope, flowId: string, id: string): Promise<FlowRunView> {
  const { workspace, db } = scope
  const [row] = isUuid(id) ? await db.query(findRun({ workspaceId: workspace.id, flowId, id })) : []
  if (!row) throw problem('NOT_FOUND')
  const steps = await db.query(findSteps({ workspaceId: workspace.id, runId: row.id }))
  const access = (await loadTriggerAccess(scope, [row])).get(row.id) ?? noAccess
  const { views, isHidden } = await viewsOf(scope, row, steps, access)
  return { ...summaryOf(scope, row, access, isHidden), steps: views }
}

/** Callers who may change a flow see the outputs of functions, calls and messages in its runs. */
const isEditor = (scope: Scope, flowId: string): boolean => permits(scope, 'flows:update', flowId)

async function summariesOf(scope: Scope, rows: readonly FlowRunViewRow[]): Promise<FlowRunSummary[]> {
  const accessById = await loadTriggerAccess(scope, rows)
  const summaries: FlowRunSummary[] = []
  for (const row of rows) {
    const access = accessById.get(row.id) ?? noAccess
    const isRead = row.error !== null && access.isFullyVisible && isEditor(scope, row.flow_id)
    summaries.push(summaryOf(scope, row, access, isRead ? await possiblyDerivedTest(scope, row) : () => true))
  }
  return summaries
}

/**
 * The text of a failure may repeat the trigger and outputs of steps, so it is shown to callers who may see the trigger in full, and the words
 * of the failed step.
 */
function summaryOf(
  scope: Scope,
  { error, trigger_visibility: _, has_input: __, record_keys: ___, ...row }: FlowRunViewRow,
  { isIdVisible, isFullyVisible }: TriggerAccess,
  isHidden: (nodeId: string) => boolean,
): FlowRunSummary {
  const showsWords = isFullyVisible && isEditor(scope, row.flow_id) && (error?.node_id == null || !isHidden(error.node_id))
  return {
    ...row,
    trigger: isIdVisible ? row.trigger : withoutSubject(row.trigger),
    ...(error ? { error: visibleErrorText(error, showsWords) } : {}),
  }
}

/** A trigger whose subject the caller may not see: of an event also what kind of thing that is, of one of the list its type. */
function withoutSubject({ kind, event, object_type }: FlowRunSummary['trigger']): FlowRunSummary['trigger'] {
  const isTyped = kind === 'event'
  return { kind, event: isTyped ? null : event, object_type: isTyped || kind === 'calendar' ? null : object_type, record_id: null }
}

/**
 * Returns a test for blocks whose outputs derive from what the caller does not see in full: the trigger, or records in outputs of the blocks
 * `partial`. True for all when the definition is gone.
 */
async function derivedBlockTest(
  scope: Scope,
  { flow_id, version, trigger }: FlowRunViewRow,
  { isFullyVisible }: TriggerAccess,
  partial: ReadonlySet<string>,
): Promise<(nodeId: string) => boolean> {
  if (isFullyVisible && partial.size === 0) return () => false
  const flow = await loadCompiledFlow(scope, scope.workspace.id, flow_id, version)
  if (!flow) return () => true
  const derived = derivedBlocks(flow.graph, isFullyVisible ? noParts : restrictedPartsOf(trigger), partial)
  return (nodeId) => derived.has(nodeId)
}

/** Code and block of a failure; with `inFull` also its message, which may hold data of records and calls. */
export function visibleErrorText({ code, message, node_id }: RunError, inFull: boolean): string {
  const where = node_id === null ? code : `${code} at ${node_id}`
  return inFull ? `${where}: ${message}` : where
}

async function viewsOf(
  scope: Scope,
  run: FlowRunViewRow,
  steps: readonly FlowStepViewRow[],
  access: TriggerAccess,
): Promise<{ readonly views: FlowStepView[]; readonly isHidden: (nodeId: string) => boolean }> {
  const seesAll = isEditor(scope, run.flow_id)
  const ofRecords = steps.filter(({ node_type, status }) => showsRecord(node_type) && status !== 'failed')
  const records = await createRecordViewer(
    scope,
    ofRecords.map(({ output }) => output),
  )
  const partial = ofRecords.filter(({ output, ...step }) => !records.isWhole(output, writingOf(step)))
  const hiddenLists = await hiddenRecordLists(scope, run, steps)
  const isHidden = await derivedBlockTest(scope, run, access, new Set([...partial.map(({ node_id }) => node_id), ...hiddenLists]))
  const views = steps.map(({ output, is_cut, error, type_revision, ...step }): FlowStepView => {
    if (step.status === 'failed')
      return { ...step, ...(error ? { error: visibleErrorText(error, seesAll && !isHidden(step.node_id)) } : {}) }
    if (showsRecord(step.node_type)) return { ...step, ...records.show(output, writingOf({ ...step, type_revision })) }
    if (isHidden(step.node_id) || (!seesAll && visibilityOf(step.node_type) === 'editors')) return step
    return { ...step, output, ...(is_cut ? { output_cut: true } : {}) }
  })
  return { views, isHidden }
}

const writingOf = ({ type_revision, started_at }: Pick<FlowStepViewRow, 'type_revision' | 'started_at'>): Writing => ({
  revision: type_revision,
  at: started_at,
})

const visibilityOf = (type: string): string => {
  const kind = blockKindOf(type)
  return kind && !kind.isTrigger ? kind.shown : 'editors'
}
const showsRecord = (type: string): boolean => visibilityOf(type) === 'record'

/** Ids of the blocks that found records which the caller may not see in full, by their definition. */
async function hiddenRecordLists(scope: Scope, { flow_id, version }: FlowRunViewRow, steps: readonly FlowStepViewRow[]): Promise<string[]> {
  const nodeIds = new Set(steps.filter(({ node_type }) => visibilityOf(node_type) === 'records').map(({ node_id }) => node_id))
  if (nodeIds.size === 0 || scope.actor.owner) return []
  const flow = await loadCompiledFlow(scope, scope.workspace.id, flow_id, version)
  const hidden: string[] = []
  for (const id of nodeIds) if (!(await seesAllRecordsOf(scope, flow?.graph.nodeById.get(id)?.config))) hidden.push(id)
  return hidden
}

/**
 * Whether the caller may read every field of every record that a block holds. Which records match a filter tells of their values, so found
 * records are shown to the owner and to callers who may read every field of every record that the block tested, and to no others.
 */
async function seesAllRecordsOf(scope: Scope, { object_type, filter }: FlowNode['config'] = {}): Promise<boolean> {
  const type = typeof object_type === 'string' ? await findRecordType(scope, object_type.trim()) : undefined
  const readsAll = type !== undefined && recordAccessFor(scope, type, 'records:read').verdict === 'all'
  return readsAll && seesEarlierFields(scope, type.key) && testsOwnFields(filter)
}

/**
 * Same as `derivedBlockTest` of a run whose trigger the caller sees in full, without reading its steps: all records of the types count that its
 * blocks could hold.
 */
async function possiblyDerivedTest(scope: Scope, { flow_id, version }: FlowRunViewRow): Promise<(nodeId: string) => boolean> {
  if (scope.actor.owner) return () => false
  const flow = await loadCompiledFlow(scope, scope.workspace.id, flow_id, version)
  if (!flow) return () => true
  const partial = new Set<string>()
  for (const { id, type, config } of flow.graph.nodeById.values()) {
    const holdsRecords = ['record', 'records'].includes(visibilityOf(type))
    if (holdsRecords && !(await seesAllRecordsOf(scope, config))) partial.add(id)
  }
  const derived = derivedBlocks(flow.graph, noParts, partial)
  return (nodeId) => derived.has(nodeId)
}

function instantOf(from: string): string {
  const instant = toUtcInstant(from) ?? (isDay(from) ? `${from}T00:00:00Z` : undefined)
  if (instant === undefined) throw problem('VALIDATION_ERROR', `from must be an instant as RFC 3339 writes it, or YYYY-MM-DD, got ${from}`)
  return instant
}

type Parts = ReadonlySet<string | undefined>

const noParts: Parts = new Set()

/** Parts of the trigger to which access is restricted, by their names in references; undefined stands for the whole trigger. */
const restrictedPartsOf = ({ kind }: FlowRunSummary['trigger']): Parts => (kind === 'event' ? restrictedOfEvents : restrictedParts)

const restrictedParts: Parts = new Set(['record', 'record_id', 'before', 'changed', 'calendar_event', 'input', undefined])

/** Of other triggers, `event` is but its name. */
const restrictedOfEvents: Parts = new Set([...restrictedParts, 'event'])

/**
 * Ids of blocks whose outputs derive from these parts of the trigger, or from these blocks, which are among them: by a reference, through
 * other blocks, or as items of a loop.
 */
function derivedBlocks(
  { nodeById, sectionOf }: Pick<Graph, 'nodeById' | 'sectionOf'>,
  parts: Parts,
  blocks: ReadonlySet<string>,
): ReadonlySet<string> {
  const derived = new Set(blocks)
  const derives = (id: string, config: unknown): boolean => {
    if (sectionOf.get(id)?.path.some((loop) => derived.has(loop))) return true
    for (const [root, part] of pathsIn(config)) {
      if (root === 'trigger' ? parts.has(part) : root === 'steps' && derived.has(part ?? '')) return true
    }
    return false
  }
  for (let size = -1; size < derived.size; ) {
    size = derived.size
    for (const { id, config } of nodeById.values()) if (!derived.has(id) && derives(id, config)) derived.add(id)
  }
  return derived
}

interface RecordViewer {
  /** Reduces the record in a step's output to the fields that the caller may read now; what is no record is not shown. */
  readonly show: (output: unknown, writing: Writing) => Pick<FlowStepView, 'output' | 'output_cut'>
  /** Whether the caller may see all of it. */
  readonly isWhole: (output: unknown, writing: Writing) => boolean
}

/**
 * Shows records in outputs of steps. The values are those that the step wrote; those that belong to no present field of the type are left
 * to callers whose rules hide no field. Of a record that is deleted or that the caller may not read only the id is left. Runs one statement
 * per record type.
 */
async function createRecordViewer(scope: Scope, outputs: readonly unknown[]): Promise<RecordViewer> {
  const visible = new Map<string, VisibilityTest>()
  /** Types of which the caller sees every field of every record, so deleted ones hide nothing either. */
  const open = new Set<string>()
  for (const [typeKey, ofType] of Map.groupBy(outputs.filter(isRecordOutput), ({ object_type }) => object_type)) {
    const type = await findRecordType(scope, typeKey)
    if (!type || !permits(scope, 'records:read', typeKey)) continue
    const access = recordAccessFor(scope, type, 'records:read')
    const seesEarlier = seesEarlierFields(scope, typeKey)
    if (seesEarlier && access.verdict === 'all' && access.hideable.size === 0) open.add(typeKey)
    const ids = [...new Set(ofType.map(({ id }) => id))]
    for (const record of await findRecordsByIds(scope, type, ids)) {
      if (!access.test(record)) continue
      const shown = access.visibleFields(record)
      visible.set(record.id, (key, writing) => (isOfPresentField(type, key, writing) ? shown.has(key) : seesEarlier))
    }
  }
  return {
    show: (output, writing) => {
      if (!isRecordOutput(output)) return {}
      const isVisible = visible.get(output.id)
      const values = Object.entries(output.values).filter(([key]) => isVisible?.(key, writing))
      const isCut = output.cut?.some((key) => isVisible?.(key, writing)) === true
      return {
        output: { id: output.id, ...(isVisible ? { values: Object.fromEntries(values) } : {}) },
        ...(isCut ? { output_cut: true } : {}),
      }
    },
    isWhole: (output, writing) =>
      isRecordOutput(output) &&
      (open.has(output.object_type) || Object.keys(output.values).every((key) => visible.get(output.id)?.(key, writing))),
  }
}

/** Whether the caller may see a value of a record that was written under this key. */
type VisibilityTest = (key: string, writing: Writing) => boolean
