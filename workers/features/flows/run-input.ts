import type { TriggerInput, TriggerVisibility } from '#shared/features/flows/runs/schemas.ts'

/** The input of a run that an event starts. */
export interface RunInput {
  /** Deduplication key: the id of the event's entry. */
  readonly key: string
  readonly input: TriggerInput
  /** What decides who may see the event, the calendar event or the record. */
  readonly triggerVisibility?: TriggerVisibility
  readonly isPersonal: boolean
}
