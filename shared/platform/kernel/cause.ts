/** `anonymous` is the visitor, `system` the platform itself; neither has an id. */
export type ActorType = 'user' | 'service' | 'anonymous' | 'system'

/** Why something happens: on whose behalf, in which request, and after how many automatic steps. Travels in every job and event. */
export interface Cause {
  readonly actorId: string | null
  readonly actorType: ActorType
  readonly requestId: string
  readonly depth: number
  /** Set once work of one person runs for another: nothing that it causes reaches what is personal (`Actor.personId`). */
  readonly impersonal?: true
}

/** The same cause for work of one person that runs for another. */
export const impersonalCause = (cause: Cause): Cause => ({ ...cause, impersonal: true })

/** Steps after which a chain of automations is cut: it is taken for a loop (design, Events). */
export const maxCauseDepth = 8

/** Id and type of the actor as rows hold them. Work without an actor is the platform's. */
export const actorColumns = ({ actorId, actorType }: Cause): [string | null, ActorType] => [
  actorId,
  actorId === null ? 'system' : actorType,
]
