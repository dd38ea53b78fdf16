import type { FlowNode } from '#shared/core/automation/node.ts'
import { toText } from '#shared/core/automation/template.ts'
import { isOfType } from '#shared/core/events/type-names.ts'
import { conditionsOf, readFilterTree } from '#shared/core/records/query/filter-tree.ts'
import { calendarEventSource, startingEventName } from '#shared/features/calendar/announce.ts'
import { minutesBeforeOf } from '#shared/features/calendar/blocks.ts'
import { scheduleReminderChecks } from '#shared/features/calendar/reminders/schedule.ts'
import { eventTrigger, readTypeNames } from '#shared/features/flows/blocks/event-trigger.ts'
import { blockKindOf } from '#shared/features/flows/blocks.ts'
import type { FlowDefinition } from '#shared/features/flows/definitions/definition.ts'
import { scheduleKind } from '#shared/features/flows/store.ts'
import { nextScheduledTime, scheduleOf } from '#shared/features/flows/triggers/cron.ts'
import type { Tx } from '#shared/platform/db/database.ts'
import { removeDue, setDue } from '#shared/platform/due/due-times.ts'
import { recordSource, typeSource } from '#shared/platform/events/event-delivery.ts'
import { type ListenedEvent, listen } from '#shared/platform/events/listen.ts'

/** Name of flows as event subscribers; the subscription id is the flow's id. */
export const flowSubscriber = 'flows'

/** Trigger of a definition; undefined without one. */
export const triggerOf = ({ nodes }: Pick<FlowDefinition, 'nodes'>): FlowNode | undefined =>
  nodes.find(({ type }) => blockKindOf(type)?.isTrigger)

/** Sets a flow's event subscription and schedule to what its trigger needs; removes both while the flow is disabled. */
export async function updateFlowSubscription(
  tx: Tx,
  workspaceId: string,
  flow: { id: string; enabled: boolean; nodes: readonly FlowNode[] },
  now: Date,
): Promise<void> {
  const trigger = flow.enabled ? triggerOf(flow) : undefined
  await listen(tx, { workspaceId, subscriber: flowSubscriber, id: flow.id }, subscribedEvents(trigger))
  if (trigger?.type === 'trigger.calendar_event' && trigger.config.event === 'starting') {
    await scheduleReminderChecks(tx, workspaceId, String(trigger.config.calendar_key ?? '').trim(), now)
  }
  const next = trigger?.type === 'trigger.schedule' ? nextScheduledTime(scheduleOf(trigger.config), now) : undefined
  if (next) await setDue(tx, { name: scheduleKind }, workspaceId, [{ subject: flow.id, at: next }])
  else await removeDue(tx, { name: scheduleKind }, workspaceId, [flow.id])
}

/** Whether a trigger takes the events of a delivery; it may have changed since they were announced. */
export function takesEvents(trigger: FlowNode | undefined, { source, objectType, event }: Omit<ListenedEvent, 'snapshot'>): boolean {
  if (trigger?.type === eventTrigger.type)
    return source === typeSource && readTypeNames(trigger.config.types)?.some((name) => isOfType(event, name)) === true
  return subscribedEvents(trigger).some(
    (taken) =>
      taken.source === source &&
      taken.event === event &&
      (taken.objectType === objectType || (source === calendarEventSource && taken.objectType === '')),
  )
}

function subscribedEvents(trigger: FlowNode | undefined): ListenedEvent[] {
  if (trigger?.type === eventTrigger.type) return typedEvents(trigger.config)
  const { object_type, event, calendar_key = '', minutes_before } = (trigger?.config ?? {}) as Readonly<Record<string, string>>
  if (trigger?.type === 'trigger.record_event') {
    return [{ source: recordSource, objectType: object_type ?? '', event: event ?? '', snapshot: true }]
  }
  if (trigger?.type !== 'trigger.calendar_event') return []
  // Upcoming events are announced under an event name that holds the minutes before the start.
  const kind = event === 'starting' ? startingEventName(minutesBeforeOf(minutes_before ?? 0) ?? 0) : (event ?? '')
  return [{ source: calendarEventSource, objectType: toText(calendar_key).trim(), event: kind, snapshot: true }]
}

/** The types of a trigger, as they are named: a type that a later release adds is of `records.*`, too. Events of updates keep the fields of its filter. */
function typedEvents({ types, filter }: FlowNode['config']): ListenedEvent[] {
  const keeps = filter === undefined || filter === '' ? [] : conditionsOf(readFilterTree(filter)).map(({ field }) => field)
  return (readTypeNames(types) ?? []).map((event) => ({ source: typeSource, objectType: '', event, snapshot: true, keeps }))
}
