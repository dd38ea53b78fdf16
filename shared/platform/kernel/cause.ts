import { nullable, t } from '#shared/platform/kernel/schema.ts'

/** What may cause a change (docs/contract/records.md#causes). */
export const causeKinds = [
  'request',
  'batch',
  'import',
  'flow',
  'function',
  'form',
  'queue',
  'payment',
  'recompute',
  'undo',
  'system',
] as const
export type CauseKind = (typeof causeKinds)[number]

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
  /** The nearest run of a flow that causes this. Unlike the request's id, which is that run's too, no caller can name it. */
  readonly flowRunId?: string
  /** What makes the changes, the nearest one of a chain: of a function that a flow calls, the function. */
  readonly kind: CauseKind
  /**
   * Its id: of a batch, an import or a recompute the job's, of a flow or a function the run's, of a form the submission's, of a queue the
   * history entry's, of a payment the link's. Null for a request and for the platform.
   */
  readonly id: string | null
}

/** A cause as jobs and events hold it. Those of releases before causes had kinds have neither kind nor id. */
export type StoredCause = Omit<Cause, 'kind' | 'id'> & Partial<Pick<Cause, 'kind' | 'id'>>

/** A stored cause with its kind. Work of an earlier release counts as its caller's request, without a caller as the platform's. */
export const completeCause = (stored: StoredCause): Cause => ({
  ...stored,
  kind: stored.kind ?? (stored.actorType === 'system' ? 'system' : 'request'),
  id: stored.id ?? null,
})

/** The cause of work that the platform does by itself, such as due work. */
export const platformCause = (requestId: string): Cause => ({
  actorId: null,
  actorType: 'system',
  requestId,
  depth: 0,
  kind: 'system',
  id: null,
})

/** The same cause, of changes that something else makes, such as the run of a flow. */
export const causedBy = (cause: Cause, kind: Exclude<CauseKind, 'request' | 'system'>, id: string): Cause => ({ ...cause, kind, id })

/** What caused a change, as answers show it. */
export const causeView = t.Object(
  {
    kind: t.Enum([...causeKinds]),
    id: nullable(
      t.String({
        format: 'uuid',
        description:
          'Of a batch, an import or a recompute the id of the job, of a flow or a function that of the run, of a form that of the submission, of a queue that of the history entry, of a payment that of the link, of an undo that of the job. Null for a single request and for the platform.',
      }),
    ),
  },
  { title: 'Cause' },
)

/** The kind and id of a cause as rows hold them. */
export const causeColumns = ({ kind, id }: Cause) => ({ causeKind: kind, causeId: id })

/** The same cause without personal standing, for one person's work that runs for another. */
export const impersonalCause = (cause: Cause): Cause => ({ ...cause, impersonal: true })

/** Maximum steps of a chain of automations. A longer chain is treated as a loop and cut (docs/contract/flows.md#chains). */
export const maxCauseDepth = 8

/** Id and type of the actor as rows hold them. Work without an actor's id is stored as the platform's (`system`). */
export const actorColumns = ({ actorId, actorType }: Cause): Pick<Cause, 'actorId'> & { readonly actorType: ActorType } => ({
  actorId,
  actorType: actorId === null ? 'system' : actorType,
})
