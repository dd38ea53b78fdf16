import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { recordAccessFor } from '#shared/core/records/access.ts'
import { readWatchedFields } from '#shared/core/records/blocks/tested-fields.ts'
import { createRecordMatcher, orNone } from '#shared/core/records/query/filter.ts'
import { conditionsOf, readFilterTree } from '#shared/core/records/query/filter-tree.ts'
import { type StoredRecord, toValuesView } from '#shared/core/records/record.ts'
import { beforeChange, type RecordChange, readChanges, snapshotToRecord } from '#shared/core/records/snapshots.ts'
import { withoutPersonalStanding } from '#shared/core/scope/actor.ts'
import type { EventView } from '#shared/core/scope/event-families.ts'
import type { PlatformScope, Scope } from '#shared/core/scope/scope.ts'
import { isSameValue } from '#shared/core/types/field-kinds/value.ts'
import { findRecordType, type RecordType } from '#shared/core/types/record-type.ts'
import { type AnnouncedEvent, accessToAnnouncedEvent, minutesOfEventName } from '#shared/features/calendar/announce.ts'
import { createRunExecution, loadCompiledFlow, stepBudget } from '#shared/features/flows/execution/load.ts'
import { blockOf, type CompiledFlow, stepContextOf } from '#shared/features/flows/execution/run-execution.ts'
import { startRunsOnEventsJob } from '#shared/features/flows/jobs.ts'
import { chainsCut } from '#shared/features/flows/metrics.ts'
import type { TriggerInput, TriggerVisibility } from '#shared/features/flows/runs/schemas.ts'
import { type NewRun, startRuns } from '#shared/features/flows/runs/start.ts'
import { addSkippedEvents } from '#shared/features/flows/runs/store.ts'
import { type EnabledFlow, findEnabledFlows } from '#shared/features/flows/store.ts'
import { takesEvents } from '#shared/features/flows/triggers/subscribe.ts'
import { type EventDelivery, recordSource, typeSource } from '#shared/platform/events/event-delivery.ts'
import { impersonalCause, maxCauseDepth } from '#shared/platform/kernel/cause.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { hourMs } from '#shared/platform/kernel/time/units.ts'
import { definePlatformHandler } from '#workers/core/scope/handler.ts'
import { catchRefusal, enterAsPrincipal } from '#workers/core/workspaces/enter-workspace.ts'
import type { RunInput } from '#workers/features/flows/run-input.ts'
import { findCausingFlow, typedEventInputs } from '#workers/features/flows/typed-event-inputs.ts'

/** Creates runs for delivered events, once for each event and flow, even when an event is delivered repeatedly. */
export default definePlatformHandler(startRunsOnEventsJob, async ({ payload, scope }) => {
  await makeRuns(scope, payload)
  return { result: null }
})

async function makeRuns(scope: PlatformScope, delivery: EventDelivery): Promise<void> {
  // The run that ends a chain as failed causes one event, its own end.
  if (scope.cause.depth > maxCauseDepth) return
  const { workspaceId } = delivery
  const flows = await scope.db.query(findEnabledFlows({ workspaceId, ids: delivery.listenerIds }))
  const changes = delivery.source === recordSource ? await readChanges(scope, delivery) : []
  const causingFlow = delivery.source === typeSource ? await findCausingFlow(scope, workspaceId) : undefined
  const newRuns: NewRun[] = []
  const skipped = new Map<string, number>()
  const budget = stepBudget(scope.db)
  for (const flow of flows) {
    const editor = await catchRefusal(() => enterAsPrincipal(scope, workspaceId, flow.editor_id, true))
    const compiled = await loadCompiledFlow(scope, workspaceId, flow.id, flow.version)
    if (editor.refusal || !compiled || !takesEvents(compiled.graph.trigger, delivery) || flow.id === causingFlow) continue
    const config = compiled.graph.trigger?.config ?? {}
    const inputs =
      delivery.source === recordSource
        ? await recordInputs(impersonal(editor.value), delivery, changes, config, budget)
        : delivery.source === typeSource
          ? await typedEventInputs(impersonal(editor.value), flow.id, delivery, config, budget)
          : await eventInputs(editor.value, delivery)
    const startingInputs: RunInput[] = []
    for (const one of inputs) {
      budget.refill()
      if (!(await endsAtOnce(compiled, one.input, budget))) startingInputs.push(one)
    }
    if (startingInputs.length < inputs.length) skipped.set(flow.id, inputs.length - startingInputs.length)
    newRuns.push(...startingInputs.map((one) => runOf(scope, delivery, flow, one)))
  }
  await scope.db.transaction(async (tx) => {
    const ids = await startRuns({ ...scope, db: tx }, workspaceId, newRuns)
    if (scope.cause.depth >= maxCauseDepth) chainsCut.inc({ subscriber: 'flows' }, ids.size)
    if (skipped.size === 0) return
    const counted = { flowIds: [...skipped.keys()], counts: [...skipped.values()] }
    await tx.query(addSkippedEvents({ ...counted, workspaceId, hour: hourOf(scope.now()) }))
  })
}

/**
 * Inputs from records as they were after the change, with the fields that the editor may read. A record that the editor may not read, or
 * that the trigger does not let through, starts no run.
 */
async function recordInputs(
  editor: Scope,
  { objectType, event }: EventDelivery,
  changes: readonly RecordChange[],
  { filter, fields }: Readonly<Record<string, unknown>>,
  budget: ComputeBudget,
): Promise<RunInput[]> {
  const type = await findRecordType(editor, objectType)
  if (!type) return []
  const access = recordAccessFor(editor, type, 'records:read')
  // No record passes where the filter no longer fits the type, or names a field that a rule could hide from the editor.
  const isFiltered = filter !== undefined && filter !== ''
  const matches = isFiltered ? orNone(() => createRecordMatcher(type, access, readFilterTree(filter))) : access.test
  const watched = readWatchedFields(fields === '' ? [] : fields)
  if (!watched) return []
  let triggerVisibility: TriggerVisibility | undefined
  const inputs: RunInput[] = []
  for (const change of changes) {
    await budget.pause()
    const stored = snapshotToRecord(type, change.after)
    if (!matches(stored)) continue
    const visible = access.visibleFields(stored)
    const replaced = event === 'updated' ? replacedValues(type, access, change, stored, visible) : undefined
    if (event === 'updated' && watched.length > 0 && !watched.some((key) => replaced?.changed.includes(key))) continue
    triggerVisibility ??= {
      type_revision: type.revision,
      tested: testedKeys(type, isFiltered ? filter : [], event === 'updated' ? watched : []),
    }
    const { id, created_at, entryId } = change.after
    const record = { id, created_at, ...toValuesView(type, stored.values, visible) }
    inputs.push({ key: entryId, input: { event, record_id: id, record, ...replaced }, triggerVisibility, isPersonal: false })
  }
  return inputs
}

/** Keys of the fields that a trigger tested. */
function testedKeys(type: RecordType, filter: unknown, watched: readonly string[]): string[] {
  const conditions = conditionsOf(readFilterTree(filter)).map(({ field }) => field)
  return [...new Set([...conditions, ...watched])].filter((key) => type.fieldByKey.has(key))
}

/** What an update replaced, as far as the editor may read it: earlier values must have been readable then, too. */
function replacedValues(
  type: RecordType,
  access: RecordAccess,
  change: RecordChange,
  stored: StoredRecord,
  visible: ReadonlySet<string>,
): Required<Pick<TriggerInput, 'before' | 'changed'>> {
  const earlier = beforeChange(type, change)
  const isChanged = (key: string) => visible.has(key) && !isSameValue(stored.values[key] ?? null, earlier.values[key] ?? null)
  return {
    before: toValuesView(type, earlier.values, visible.intersection(access.visibleFields(earlier))),
    changed: type.fields.flatMap(({ key }) => (isChanged(key) ? [key] : [])),
  }
}

/** The scope without personal standing, for work that runs for others than its actor. */
const impersonal = (scope: Scope): Scope => ({
  ...scope,
  cause: impersonalCause(scope.cause),
  actor: withoutPersonalStanding(scope.actor),
})

/**
 * Inputs from calendar events as they were announced. An event of the editor's own personal calendar starts a personal run. An event of a
 * team calendar starts a run when the editor may see its details. An event of another person's calendar does so only when the editor may
 * see its details without personal standing.
 */
async function eventInputs(editor: Scope, { event, entryIds, snapshots = [] }: EventDelivery): Promise<RunInput[]> {
  const inputs: RunInput[] = []
  for (const [index, key] of entryIds.entries()) {
    const announced = snapshots[index] as AnnouncedEvent | null | undefined
    if (!announced) continue
    const access = await accessToAnnouncedEvent(editor, announced)
    const isPersonal = access === 'own'
    if (access === 'none') continue
    if (access === 'details' && (await accessToAnnouncedEvent(impersonal(editor), announced)) === 'none') continue
    const { calendar_id, visibility, guest_ids, ...calendar_event } = announced
    inputs.push({
      key,
      input: { event: minutesOfEventName(event) === undefined ? event : 'starting', calendar_event },
      triggerVisibility: { calendar_id, visibility, guest_ids },
      isPersonal,
    })
  }
  return inputs
}

/** Whether a run would end at the condition directly after the trigger; such a run is not created. */
async function endsAtOnce(compiled: CompiledFlow, input: TriggerInput, budget: ComputeBudget): Promise<boolean> {
  const { graph } = compiled
  const [only, another] = graph.trigger ? graph.targets(graph.trigger.id, 'out') : []
  const node = only === undefined || another !== undefined ? undefined : graph.nodeById.get(only)
  if (node?.type !== 'logic.condition') return false
  const { work } = blockOf(node)
  try {
    const execution = await createRunExecution(compiled, { id: newId(), input, state: null, steps: 0 }, budget)
    const { handle = 'out' } = 'computes' in work ? await work.computes(stepContextOf(execution, { node, iteration: '' })) : {}
    return graph.targets(node.id, handle).length === 0
  } catch (error) {
    // The run itself will fail with this error and record it.
    if (error instanceof Problem && error.status < 500) return false
    throw error
  }
}

function runOf(
  { cause }: PlatformScope,
  delivery: EventDelivery,
  flow: EnabledFlow,
  { key, input, triggerVisibility, isPersonal }: RunInput,
): NewRun {
  return {
    flow,
    trigger: triggerOf(delivery, input),
    input,
    triggerVisibility,
    key: `event ${key}`,
    depth: cause.depth + 1,
    isPersonal,
    requestId: cause.requestId,
  }
}

function triggerOf({ source, event, objectType }: EventDelivery, input: TriggerInput): NewRun['trigger'] {
  if (typeof input.event === 'object') {
    const { object_type, id } = input.event.subject as EventView['subject']
    return { kind: 'event', event, object_type: textOrNull(object_type), record_id: textOrNull(id) }
  }
  const kind = source === recordSource ? 'record_event' : 'calendar'
  const record_id = input.record_id ?? textOrNull(input.calendar_event?.id)
  return { kind, event: input.event ?? event, object_type: objectType || null, record_id }
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)

const hourOf = (now: Date): Date => new Date(Math.floor(now.getTime() / hourMs) * hourMs)
