import { prepareEvents } from '#shared/core/events/show-all.ts'
import { filteredKeys, prepareJudging } from '#shared/core/records/events/judge-changes.ts'
import type { ChangeRow } from '#shared/core/records/events/show-changes.ts'
import { type Filter, readFilterTree } from '#shared/core/records/query/filter-tree.ts'
import type { PlatformScope, Scope } from '#shared/core/scope/scope.ts'
import { findRecordType } from '#shared/core/types/record-type.ts'
import type { TriggerVisibility } from '#shared/features/flows/runs/schemas.ts'
import { findFlowOfRun } from '#shared/features/flows/runs/store.ts'
import { digestsOf, readTypedEvents } from '#shared/features/flows/triggers/typed-events.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import type { EventDelivery } from '#shared/platform/events/event-delivery.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import type { RunInput } from '#workers/features/flows/run-input.ts'

/** The flow whose run caused the events of a delivery, also by a function that the run called; undefined for others. */
export async function findCausingFlow({ db, cause }: PlatformScope, workspaceId: string): Promise<string | undefined> {
  const runId = cause.kind === 'flow' ? cause.id : cause.flowRunId
  if (runId === undefined || runId === null) return undefined
  return (await firstRow(db, findFlowOfRun({ workspaceId, id: runId })))?.flow_id
}

/**
 * Inputs from events that a flow hears by their types, as its editor may read them. An event that the editor may not read, that the filter does
 * not accept, or that tells of the end of a run of this flow, starts no run.
 */
export async function typedEventInputs(
  editor: Scope,
  flowId: string,
  delivery: EventDelivery,
  { filter: sent }: Readonly<Record<string, unknown>>,
  budget: ComputeBudget,
): Promise<RunInput[]> {
  const filter = readStored(sent)
  if (filter === 'invalid') return []
  const events = readTypedEvents(delivery).filter((event) => !isEndOf(event, flowId) && (!filter || isChange(event)))
  const accepts = filter && (await prepareJudging(editor, filter, events))
  const show = await prepareEvents(editor, editor.eventFamilies, events)
  const inputs: RunInput[] = []
  for (const event of events) {
    await budget.pause()
    if (accepts && !(await accepts(event))) continue
    const shown = await show(event)
    if (!shown) continue
    const triggerVisibility = { event, digests: digestsOf(shown), ...(filter && (await testedOf(editor, event, filter))) }
    inputs.push({ key: event.id, input: { event: shown }, triggerVisibility, isPersonal: false })
  }
  return inputs
}

/** The filter of the trigger; undefined without one. An earlier release may have stored one that is none. */
function readStored(sent: unknown): Filter | undefined | 'invalid' {
  if (sent === undefined || sent === '') return undefined
  try {
    return readFilterTree(sent)
  } catch (error) {
    if (error instanceof Problem) return 'invalid'
    throw error
  }
}

const isChange = ({ type }: ChangeRow): boolean => type.startsWith('records.')

const isEndOf = ({ type, subject }: ChangeRow, flowId: string): boolean => type.startsWith('flows.run.') && subject?.flow === flowId

/** What the run shows of the record by having passed the filter. */
async function testedOf(editor: Scope, { topic }: ChangeRow, filter: Filter): Promise<Pick<TriggerVisibility, 'tested' | 'type_revision'>> {
  const type = await findRecordType(editor, topic)
  return type ? { type_revision: type.revision, tested: filteredKeys(type, filter) } : {}
}
