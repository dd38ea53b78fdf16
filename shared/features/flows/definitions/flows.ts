import { isDeepStrictEqual } from 'node:util'
import type { KnownReferences } from '#shared/core/automation/block.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { teamCalendarKey } from '#shared/features/calendar/calendars/default-calendars.ts'
import { blockKindOf } from '#shared/features/flows/blocks.ts'
import { type FlowProblem, findFlowProblems, readDefinition, refuseUnknownSettings } from '#shared/features/flows/definitions/check.ts'
import type { FlowDefinition, FlowDefinitionInput, Positions } from '#shared/features/flows/definitions/definition.ts'
import type { FlowChange, FlowInput, FlowOutline, FlowView } from '#shared/features/flows/definitions/schemas.ts'
import { flowLimits } from '#shared/features/flows/limits.ts'
import { flowDeletedError } from '#shared/features/flows/runs/schemas.ts'
import { failOpenRuns } from '#shared/features/flows/runs/store.ts'
import {
  deleteFlow,
  deleteOldFlowVersions,
  findFlow,
  findSurroundings,
  insertFlow,
  insertVersion,
  lockFlow,
  updateFlow,
} from '#shared/features/flows/store.ts'
import { triggerOf, updateFlowSubscription } from '#shared/features/flows/triggers/subscribe.ts'
import type { Tx } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'

/** A flow as it is stored. */
export interface FlowRow extends FlowDefinition {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly enabled: boolean
  readonly version: number
  readonly positions: Positions
  readonly editor_id: string
  readonly last_run_at: string | null
  readonly next_run_at: string | null
  readonly created_at: string
  readonly updated_at: string
}

/** One flow; throws NOT_FOUND. */
export const getFlow = async (scope: Scope, id: string): Promise<FlowView> => viewFlow(scope, await requireFlowId(scope, id))

/** A flow as callers see it. */
export const viewFlow = async (scope: Scope, row: FlowRow): Promise<FlowView> => viewOf(row, await loadSurroundings(scope))

/** One flow as it is stored; throws NOT_FOUND. */
export async function requireFlowId({ db, workspace }: Scope, id: string): Promise<FlowRow> {
  const [row] = isUuid(id) ? await db.query<FlowRow>(findFlow(workspace.id, id)) : []
  if (!row) throw problem('NOT_FOUND')
  return row
}

/** Makes a flow; the caller is its first editor. One that has problems stays disabled. Throws VALIDATION_ERROR for what no draft may have. */
export async function createFlow(scope: Scope, input: FlowInput): Promise<FlowView> {
  refuseUnknownSettings(input, [])
  const { definition, positions } = parseFlowDefinition(input)
  const { workspace } = scope
  const isComplete = input.enabled === true && findFlowProblems(definition, await loadSurroundings(scope)).length === 0
  const [id, now] = [newId(), scope.now()]
  return scope.db.transaction(async (tx) => {
    const texts = [JSON.stringify(positions), ...textsOf(definition)]
    await tx.query(insertFlow(workspace.id, id, input.name, input.description ?? '', ...texts, editorOf(scope), now))
    if (isComplete) {
      await tx.query(updateFlow(workspace.id, id, null, null, true, null, null, now))
      await updateFlowSubscription(tx, workspace.id, { id, enabled: true, nodes: definition.nodes }, now)
    }
    return getFlow(within(scope, tx), id)
  })
}

/**
 * Changes a flow. Another definition makes a version whose editor the caller is; a name, a switch or places on a drawing do not. Throws
 * NOT_FOUND; VALIDATION_ERROR when it would be enabled with problems, naming the first block that has one, and then changes nothing.
 */
export async function changeFlow(scope: Scope, id: string, { name, description, enabled, ...sent }: FlowChange): Promise<FlowView> {
  if (!isUuid(id)) throw problem('NOT_FOUND')
  const read = isDefinition(sent) ? parseFlowDefinition(sent) : undefined
  return scope.db.transaction(async (tx) => {
    const inside = within(scope, tx)
    const stored = await lockRow(inside, id)
    refuseUnknownSettings(sent, stored.nodes)
    const next = read?.definition ?? stored
    const isOther = read !== undefined && !isSame(read.definition, stored)
    const now = scope.now()
    const version = isOther ? await addVersion(inside, tx, stored, next, now) : null
    const isEnabled = enabled ?? stored.enabled
    // A name or a description may change while something that a block names is gone: that makes nothing worse.
    if (isEnabled && (enabled || read)) refuseProblems(findFlowProblems(next, await loadSurroundings(inside)))
    const texts = [name ?? null, description === undefined ? null : (description ?? ''), isEnabled, version]
    await tx.query(updateFlow(scope.workspace.id, id, ...texts, read ? JSON.stringify(read.positions) : null, now))
    const isHeard = isOther || isEnabled !== stored.enabled
    if (isHeard) await updateFlowSubscription(tx, scope.workspace.id, { id, enabled: isEnabled, nodes: next.nodes }, now)
    return getFlow(inside, id)
  })
}

/** Makes an earlier definition the present one; the caller becomes its editor. Throws like `changeFlow`. */
export async function restoreDefinition(scope: Scope, id: string, definition: FlowDefinition): Promise<FlowView> {
  return scope.db.transaction(async (tx) => {
    const inside = within(scope, tx)
    const stored = await lockRow(inside, id)
    if (stored.enabled) refuseProblems(findFlowProblems(definition, await loadSurroundings(inside)))
    const now = scope.now()
    const version = await addVersion(inside, tx, stored, definition, now)
    await tx.query(updateFlow(scope.workspace.id, id, null, null, null, version, null, now))
    await updateFlowSubscription(tx, scope.workspace.id, { id, enabled: stored.enabled, nodes: definition.nodes }, now)
    return getFlow(inside, id)
  })
}

/** Deletes a flow; what runs of it ends as failed, and stays readable. Throws NOT_FOUND. */
export async function removeFlow(scope: Scope, id: string): Promise<void> {
  const { workspace, db } = scope
  if (!isUuid(id)) throw problem('NOT_FOUND')
  await db.transaction(async (tx) => {
    await lockRow(within(scope, tx), id)
    await updateFlowSubscription(tx, workspace.id, { id, enabled: false, nodes: [] }, scope.now())
    await tx.query(failOpenRuns(workspace.id, id, JSON.stringify(flowDeletedError), scope.now()))
    await tx.query(deleteFlow(workspace.id, id))
  })
}

interface Named {
  readonly fields: Readonly<Record<string, readonly string[]>>
  readonly functions: readonly string[]
  readonly connections: readonly string[]
  readonly templates: readonly string[]
  readonly payment_connections: readonly string[]
  readonly queues: readonly string[]
  readonly calendars: readonly string[]
}

/** What a flow of the workspace may name, as it is now. */
export async function loadSurroundings({ db, workspace }: Pick<Scope, 'db' | 'workspace'>): Promise<KnownReferences> {
  const [row] = await db.query<Named>(findSurroundings(workspace.id))
  return {
    fieldKeys: new Map(Object.entries(row?.fields ?? {}).map(([key, fields]) => [key, new Set(fields)])),
    functionIds: new Set(row?.functions),
    connectionIds: new Set(row?.connections),
    templateIds: new Set(row?.templates),
    paymentConnectionIds: new Set(row?.payment_connections),
    queueKeys: new Set(row?.queues),
    // It is made when it is first needed.
    calendarKeys: new Set([...(row?.calendars ?? []), teamCalendarKey]),
  }
}

function viewOf({ positions, ...row }: FlowRow, around: KnownReferences): FlowView {
  return {
    ...row,
    ...flowOutlineOf(row, around),
    nodes: row.nodes.map((node) => ({ ...node, config: { ...node.config }, position: positions[node.id] ?? { x: 0, y: 0 } })),
    edges: row.edges.map((edge) => ({ ...edge })),
    context: { ...row.context },
  }
}

/** What a view tells of a flow's blocks beside them: what sets it off, and what keeps it from being enabled. */
export function flowOutlineOf(definition: Pick<FlowDefinition, 'nodes'>, around: KnownReferences): FlowOutline {
  const trigger = triggerOf(definition)
  const kind = trigger && blockKindOf(trigger.type)
  const setting = (name: string): string | null => (typeof trigger?.config[name] === 'string' ? (trigger.config[name] as string) : null)
  return {
    trigger_kind: kind?.isTrigger ? kind.kind : null,
    trigger_type: setting('object_type') ?? setting('calendar_key'),
    trigger_event: setting('event'),
    cron_expr: setting('cron'),
    problems: findFlowProblems(definition, around).map((found) => ({ ...found })),
  }
}

/** A definition that was sent, once it is sound and not too large. */
export function parseFlowDefinition(sent: FlowDefinitionInput): { definition: FlowDefinition; positions: Positions } {
  const read = readDefinition(sent)
  const bytes = textsOf(read.definition).reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  if (bytes > flowLimits.definitionBytes) throw problem('VALIDATION_ERROR', 'nodes, edges and context must have at most 256 KB together')
  return read
}

const isDefinition = ({ nodes, edges, context }: FlowDefinitionInput): boolean =>
  nodes !== undefined || edges !== undefined || context !== undefined

const isSame = (one: FlowDefinition, other: FlowDefinition): boolean =>
  isDeepStrictEqual(
    textsOf(one).map((text) => JSON.parse(text)),
    textsOf(other).map((text) => JSON.parse(text)),
  )

const textsOf = ({ nodes, edges, context }: FlowDefinition): string[] => [nodes, edges, context].map((part) => JSON.stringify(part))

/** A flow that stays as it is until the transaction ends. */
async function lockRow(inside: Scope, id: string): Promise<FlowRow> {
  if ((await inside.db.query(lockFlow(inside.workspace.id, id))).length === 0) throw problem('NOT_FOUND')
  return requireFlowId(inside, id)
}

async function addVersion(scope: Scope, tx: Tx, { id, version }: FlowRow, definition: FlowDefinition, now: Date): Promise<number> {
  const next = version + 1
  await tx.query(insertVersion(scope.workspace.id, id, next, ...textsOf(definition), editorOf(scope), now))
  await tx.query(deleteOldFlowVersions(scope.workspace.id, id, next - flowLimits.keptVersions + 1))
  return next
}

function refuseProblems([first]: readonly FlowProblem[]): void {
  if (first) throw problem('VALIDATION_ERROR', `enabled cannot be true: ${flowProblemText(first)}`)
}

/** A problem in one sentence that names its block. */
export const flowProblemText = ({ node_id, message }: FlowProblem): string => (node_id === null ? message : `${node_id}: ${message}`)

/** Whoever edits a flow answers for what it does, so the visitor cannot. */
function editorOf({ actor }: Scope): string {
  if (actor.id === null) throw problem('FORBIDDEN', 'Needs somebody who is signed in')
  return actor.id
}
