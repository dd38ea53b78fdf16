/** `anonymous` is the visitor, `system` the platform itself; neither has an id. */
export type ActorType = 'user' | 'service' | 'anonymous' | 'system'

/** Why something happens: on whose behalf, in which request, and after how many automatic steps. Travels in every job and event. */
export interface Cause {
  readonly actorId: string | null
  readonly actorType: ActorType
  readonly requestId: string
  readonly depth: number
  /**
   * Set when one person's work runs for another person: neither that work nor anything it causes has personal standing (`Actor.personId`).
   */
  readonly impersonal?: true
  /** The tracked job whose attempt causes this; undefined for what a request, an event of one, or due work causes. */
  readonly jobId?: string
}

/** The same cause without personal standing, for one person's work that runs for another. */
export const impersonalCause = (cause: Cause): Cause => ({ ...cause, impersonal: true })

/** Maximum steps of a chain of automations. A longer chain is treated as a loop and cut (docs/contract/flows.md#chains). */
export const maxCauseDepth = 8

/** Id and type of the actor as rows hold them. Work without an actor's id is stored as the platform's (`system`). */
export const actorColumns = ({ actorId, actorType }: Cause): Pick<Cause, 'actorId'> & { readonly actorType: ActorType } => ({
  actorId,
  actorType: actorId === null ? 'system' : actorType,
})
