import { isDeepStrictEqual } from 'node:util'
import type { KnownReferences } from '#shared/core/automation/block.ts'
import { typeNamesOf } from '#shared/core/events/type-names.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { teamCalendarKey } from '#shared/features/calendar/calendars/default-calendars.ts'
import { blockKindOf } from '#shared/features/flows/blocks.ts'
import { findFlowProblems, readDefinition, refuseUnknownSettings } from '#shared/features/flows/definitions/check.ts'
import type { FlowDefinition, Positions } from '#shared/features/flows/definitions/definition.ts'
import type {
  FlowChange,
  FlowDefinitionInput,
  FlowInput,
  FlowOutline,
  FlowProblem,
  FlowView,
} from '#shared/features/flows/definitions/schemas.ts'
import { loadTestedTypes } from '#shared/features/flows/definitions/tested-types.ts'
import { flowLimits } from '#shared/features/flows/limits.ts'
import { flowDeletedError } from '#shared/features/flows/runs/schemas.ts'
import { failOpenRuns } from '#shared/features/flows/runs/store.ts'
import {
  deleteFlow,
  deleteOldFlowVersions,
  type FlowRow,
  findFlow,
  findSurroundings,
  insertFlow,
  insertVersion,
  lockFlow,
  updateFlow,
} from '#shared/features/flows/store.ts'
import { triggerOf, updateFlowSubscription } from '#shared/features/flows/triggers/subscribe.ts'
import type { Tx } from '#shared/platform/db/database.ts'
import { wakeNumbering } from '#shared/platform/events/announce.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'
import { parseStoredJson } from '#shared/platform/kernel/values/json.ts'

/** Returns one flow. Throws NOT_FOUND. */
export const getFlow = async (scope: Scope, id: string): Promise<FlowView> => viewFlow(scope, await requireFlow(scope, id))

/** Builds the response view of a flow. */
export const viewFlow = async (scope: Scope, row: FlowRow): Promise<FlowView> => viewOf(row, await loadKnownReferences(scope, row))

/** Returns the stored row of a flow. Throws NOT_FOUND. */
export async function requireFlow({ db, workspace }: Scope, id: string): Promise<FlowRow> {
  const [row] = isUuid(id) ? await db.query(findFlow({ workspaceId: workspace.id, id })) : []
  if (!row) throw problem('NOT_FOUND')
  return row
}

/** Creates a flow; the caller is its first editor. It stays disabled while it has problems. Throws VALIDATION_ERROR for an invalid draft. */
export async function createFlow(scope: Scope, input: FlowInput): Promise<FlowView> {
  const { definition, positions } = readDefinition(input, [])
  const { workspace } = scope
  const isComplete =
    input.enabled === true &&
    findFlowProblems(definition, await loadKnownReferences(scope, { ...definition, editor_id: editorOf(scope) })).length === 0
  const [id, now] = [newId(), scope.now()]
  return scope.db.transaction(async (tx) => {
    const heading = { workspaceId: workspace.id, id, name: input.name, description: input.description ?? '' }
    const texts = { positions: JSON.stringify(positions), ...textsOf(definition) }
    await tx.query(insertFlow({ ...heading, ...texts, editorId: editorOf(scope), now }))
    if (isComplete) {
      await tx.query(updateFlow({ ...unchanged, workspaceId: workspace.id, id, enabled: true, now }))
      await updateFlowSubscription(tx, workspace.id, { id, enabled: true, nodes: definition.nodes }, now)
    }
    return getFlow(within(scope, tx), id)
  })
}

/**
 * Changes a flow. A changed definition adds a version with the caller as its editor; a changed name, description, position or switch adds
 * none. Throws NOT_FOUND, and VALIDATION_ERROR with the first problem when the flow would be enabled in spite of problems; then nothing
 * changes.
 */
export async function changeFlow(scope: Scope, id: string, { name, description, enabled, ...sent }: FlowChange): Promise<FlowView> {
  if (!isUuid(id)) throw problem('NOT_FOUND')
  const parsed = isDefinition(sent) ? readDefinition(sent) : undefined
  return scope.db.transaction(async (tx) => {
    const txScope = within(scope, tx)
    const stored = await lockRow(txScope, id)
    refuseUnknownSettings(sent, stored.nodes)
    const next = parsed?.definition ?? stored
    const isDefinitionChanged = parsed !== undefined && !isSame(parsed.definition, stored)
    const now = scope.now()
    const version = isDefinitionChanged ? await addVersion(txScope, tx, stored, next, now) : null
    const isEnabled = enabled ?? stored.enabled
    // A name or description can change even if a block refers to something that was removed: only a new definition or enabling is checked.
    if (isEnabled && (enabled || parsed)) {
      const editor_id = isDefinitionChanged ? editorOf(scope) : stored.editor_id
      refuseProblems(findFlowProblems(next, await loadKnownReferences(txScope, { ...next, editor_id })))
    }
    const texts = { name, description: description === undefined ? null : (description ?? '') }
    const positions = parsed ? JSON.stringify(parsed.positions) : null
    await tx.query(updateFlow({ ...texts, workspaceId: scope.workspace.id, id, enabled: isEnabled, version, positions, now }))
    const isSubscriptionChanged = isDefinitionChanged || isEnabled !== stored.enabled
    if (isSubscriptionChanged) await updateFlowSubscription(tx, scope.workspace.id, { id, enabled: isEnabled, nodes: next.nodes }, now)
    return getFlow(txScope, id)
  })
}

/**
 * Adds an earlier definition as the newest version; the caller becomes its editor. Throws NOT_FOUND, and VALIDATION_ERROR when the flow is
 * enabled and the definition has problems now.
 */
export async function restoreDefinition(scope: Scope, id: string, definition: FlowDefinition): Promise<FlowView> {
  return scope.db.transaction(async (tx) => {
    const txScope = within(scope, tx)
    const stored = await lockRow(txScope, id)
    if (stored.enabled) {
      const known = await loadKnownReferences(txScope, { ...definition, editor_id: editorOf(scope) })
      refuseProblems(findFlowProblems(definition, known))
    }
    const now = scope.now()
    const version = await addVersion(txScope, tx, stored, definition, now)
    await tx.query(updateFlow({ ...unchanged, workspaceId: scope.workspace.id, id, version, now }))
    await updateFlowSubscription(tx, scope.workspace.id, { id, enabled: stored.enabled, nodes: definition.nodes }, now)
    return getFlow(txScope, id)
  })
}

/** Deletes a flow. Its open runs end as failed; all its runs stay readable. Throws NOT_FOUND. */
export async function removeFlow(scope: Scope, id: string): Promise<void> {
  const { workspace, db } = scope
  if (!isUuid(id)) throw problem('NOT_FOUND')
  await db.transaction(async (tx) => {
    await lockRow(within(scope, tx), id)
    await updateFlowSubscription(tx, workspace.id, { id, enabled: false, nodes: [] }, scope.now())
    const error = JSON.stringify(flowDeletedError)
    const cause = JSON.stringify(scope.cause)
    await tx.query(failOpenRuns({ workspaceId: workspace.id, flowId: id, error, now: scope.now(), cause }))
    wakeNumbering(within(scope, tx), 'soon')
    await tx.query(deleteFlow({ workspaceId: workspace.id, id }))
  })
}

/** Loads what the blocks of a flow may currently refer to, and test, with the rights of its editor. */
export const loadKnownReferences = async (scope: Scope, flow: Parameters<typeof loadTestedTypes>[1]): Promise<KnownReferences> => ({
  ...(await loadSurroundings(scope)),
  testedTypes: await loadTestedTypes(scope, flow),
})

/** Loads the names and ids that flows of the workspace may currently refer to. */
export async function loadSurroundings({
  db,
  workspace,
  eventFamilies,
}: Pick<Scope, 'db' | 'workspace' | 'eventFamilies'>): Promise<KnownReferences> {
  const [row] = await db.query(findSurroundings({ workspaceId: workspace.id }))
  return {
    fieldKeys: toSets(row?.fields),
    functionIds: new Set(row?.functions),
    connectionIds: new Set(row?.connections),
    templateIds: new Set(row?.templates),
    templateReferences: toSets(row?.template_references),
    paymentConnectionIds: new Set(row?.payment_connections),
    stageKeys: toSets(row?.stages),
    // The team calendar is created at its first use, so it may be missing from the rows.
    calendarKeys: new Set([...(row?.calendars ?? []), teamCalendarKey]),
    roleIds: new Set(row?.roles),
    eventTypes: new Set(typeNamesOf(eventFamilies)),
    testedTypes: new Map(),
  }
}

const toSets = (lists: Readonly<Record<string, readonly string[]>> = {}): Map<string, ReadonlySet<string>> =>
  new Map(Object.entries(lists).map(([key, names]) => [key, new Set(names)]))

function viewOf({ positions, ...row }: FlowRow, known: KnownReferences): FlowView {
  return {
    ...row,
    ...flowOutlineOf(row, known),
    ...definitionViewOf(row, positions),
  }
}

/** A definition as answers hold it. A block without a position is drawn at 0, 0. */
export const definitionViewOf = ({ nodes, edges, context }: FlowDefinition, positions: Positions = {}) => ({
  nodes: nodes.map((node) => ({ ...node, config: { ...node.config }, position: positions[node.id] ?? { x: 0, y: 0 } })),
  edges: edges.map((edge) => ({ ...edge })),
  context: { ...context },
})

/** Derives the trigger's columns and the problems of a flow from its blocks. */
export function flowOutlineOf(definition: Pick<FlowDefinition, 'nodes'>, known: KnownReferences): FlowOutline {
  const trigger = triggerOf(definition)
  const kind = trigger && blockKindOf(trigger.type)
  const setting = (name: string): string | null => (typeof trigger?.config[name] === 'string' ? (trigger.config[name] as string) : null)
  return {
    trigger_kind: kind?.isTrigger ? kind.kind : null,
    trigger_type: setting('object_type') ?? setting('calendar_key'),
    trigger_event: setting('event'),
    cron_expr: setting('cron'),
    problems: findFlowProblems(definition, known).map((found) => ({ ...found })),
  }
}

const isDefinition = ({ nodes, edges, context }: FlowDefinitionInput): boolean =>
  nodes !== undefined || edges !== undefined || context !== undefined

const isSame = (one: FlowDefinition, other: FlowDefinition): boolean => isDeepStrictEqual(asStored(one), asStored(other))

/** The definition as reading it from the database gives it, with exact numbers. */
const asStored = (definition: FlowDefinition): unknown[] => Object.values(textsOf(definition)).map(parseStoredJson)

/** The JSON texts of a definition's parts. */
const textsOf = ({ nodes, edges, context }: FlowDefinition) => ({
  nodes: JSON.stringify(nodes),
  edges: JSON.stringify(edges),
  context: JSON.stringify(context),
})

/** Values with which `updateFlow` changes nothing. */
const unchanged = { name: null, description: null, enabled: null, version: null, positions: null }

/** Locks a flow until the transaction ends and returns its row. Throws NOT_FOUND. */
async function lockRow(txScope: Scope, id: string): Promise<FlowRow> {
  if ((await txScope.db.query(lockFlow({ workspaceId: txScope.workspace.id, id }))).length === 0) throw problem('NOT_FOUND')
  return requireFlow(txScope, id)
}

async function addVersion(scope: Scope, tx: Tx, { id, version }: FlowRow, definition: FlowDefinition, now: Date): Promise<number> {
  const next = version + 1
  const flow = { workspaceId: scope.workspace.id, flowId: id }
  await tx.query(insertVersion({ ...flow, ...textsOf(definition), version: next, editorId: editorOf(scope), createdAt: now }))
  await tx.query(deleteOldFlowVersions({ ...flow, oldestKept: next - flowLimits.keptVersions + 1 }))
  return next
}

function refuseProblems([first]: readonly FlowProblem[]): void {
  if (first) throw problem('VALIDATION_ERROR', `enabled cannot be true: ${flowProblemText(first)}`)
}

/** One sentence for a problem, with its block's id. */
const flowProblemText = ({ node_id, message }: FlowProblem): string => (node_id === null ? message : `${node_id}: ${message}`)

/** Id of the caller as the flow's editor. A flow runs with its editor's rights, so an anonymous visitor cannot edit. */
function editorOf({ actor }: Scope): string {
  if (actor.id === null) throw problem('FORBIDDEN', 'Needs somebody who is signed in')
  return actor.id
}
