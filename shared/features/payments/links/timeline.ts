import type { Scope } from '#shared/core/scope/scope.ts'
import { findTimelineEntries, insertTimelineEntry } from '#shared/features/payments/events/payments-store.ts'
import { getLink } from '#shared/features/payments/links/find.ts'
import { type LinkStatus, linkStatuses } from '#shared/features/payments/links/schemas.ts'
import { nullable, schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

/** How a change was learned. */
export type TimelineSource = 'person' | 'webhook' | 'refresh' | 'sweep'

/** What a timeline entry says, with the meaning that the API description gives. */
const timelineVerdicts = {
  created: 'the provider created the link',
  no_answer: 'the provider did not answer; the link may have been created',
  unpaid: 'a payment was started; the money has not arrived yet',
  failed: 'a payment failed',
  paid: 'the link is paid',
  paid_late: 'money arrived after the link had ended; the link is paid',
  paid_again: 'a second payment arrived on the same link',
  amount_differs: 'a payment of another amount or currency; link and record are unchanged',
  refunded: 'money was refunded; link and record are unchanged',
  disputed: 'the payer disputes the payment; link and record are unchanged',
  cancelled: 'the link was cancelled',
  expired: 'the link expired',
  repaired: 'a missing payments record was created',
  unchanged: 'a refresh found nothing new',
} as const
export type TimelineVerdict = keyof typeof timelineVerdicts

const status = t.Enum([...linkStatuses])

/** The timeline of a link (decisions, Payments, Additions). */
export const timeline = schema(
  t.Array(
    t.Object(
      {
        at: t.String({ format: 'date-time' }),
        source: t.Enum(['person', 'webhook', 'refresh', 'sweep'], { description: 'How the change was learned.' }),
        provider_event_id: nullable(t.String()),
        provider_payment_id: nullable(t.String()),
        before: nullable(status),
        after: status,
        verdict: t.Enum(Object.keys(timelineVerdicts) as TimelineVerdict[], {
          description: Object.entries(timelineVerdicts)
            .map(([verdict, meaning]) => `${verdict}: ${meaning}`)
            .join('; '),
        }),
      },
      { title: 'PaymentTimelineEntry' },
    ),
  ),
)
type Timeline = TypeOf<typeof timeline>

/** Maximum number of timeline entries in an answer, the latest ones. */
const maxEntries = 1_000

/** Reads the timeline of a link, oldest first. Throws NOT_FOUND. */
export async function readTimeline(scope: Scope, linkId: string): Promise<Timeline> {
  const { id } = await getLink(scope, linkId)
  return scope.db.query<Timeline[number]>(findTimelineEntries(scope.workspace.id, id, maxEntries))
}

/** A timeline entry to append. */
export interface TimelineEntry {
  readonly linkId: string
  readonly source: TimelineSource
  readonly eventId?: string | null
  readonly paymentId?: string | null
  readonly before: LinkStatus | null
  readonly after: LinkStatus
  readonly verdict: TimelineVerdict
}

/** Appends an entry to a link's timeline. Call it in the transaction of the change it describes. */
export async function appendTimeline({ db, workspace, now }: Scope, line: TimelineEntry): Promise<void> {
  const { linkId, source, eventId = null, paymentId = null, before, after, verdict } = line
  await db.query(insertTimelineEntry(workspace.id, linkId, now(), source, eventId, paymentId, before, after, verdict))
}
