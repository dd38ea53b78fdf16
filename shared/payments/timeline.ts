import { nullable, schema, type TypeOf, t } from '#shared/kernel/schema.ts'
import { type LinkStatus, linkStatuses } from '#shared/payments/link.ts'
import { getLink } from '#shared/payments/links.ts'
import { findLines, insertLine } from '#shared/payments/store/payments-store.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** Where something was learned from. */
export type Source = 'person' | 'webhook' | 'refresh' | 'sweep'

/** What became of it. */
export const verdicts = {
  created: 'the provider made the link',
  no_answer: 'the provider did not answer; the link may have been made',
  unpaid: 'a payment was begun, and its money is on the way',
  failed: 'a payment came to nothing',
  paid: 'the link is paid',
  paid_late: 'money came after the link had ended: it is paid',
  paid_again: 'a second payment came on the same link',
  amount_differs: 'a payment of another amount or currency, which changed nothing',
  refunded: 'money went back to the payer, which changed nothing here',
  disputed: 'the payer disputes the payment, which changed nothing here',
  cancelled: 'the link was cancelled',
  expired: 'the link expired',
  repaired: 'a missing payments record was made',
  unchanged: 'nothing new',
} as const
export type Verdict = keyof typeof verdicts

const status = t.Enum([...linkStatuses])

/** The timeline of a link (decisions, Payments, Additions). */
export const timeline = schema(
  t.Array(
    t.Object(
      {
        at: t.String({ format: 'date-time' }),
        source: t.Enum(['person', 'webhook', 'refresh', 'sweep'], { description: 'Where it was learned from.' }),
        provider_event_id: nullable(t.String()),
        provider_payment_id: nullable(t.String()),
        before: nullable(status),
        after: status,
        verdict: t.Enum(Object.keys(verdicts) as Verdict[], {
          description: Object.entries(verdicts)
            .map(([verdict, meaning]) => `${verdict}: ${meaning}`)
            .join('; '),
        }),
      },
      { title: 'PaymentTimelineEntry' },
    ),
  ),
)
export type Timeline = TypeOf<typeof timeline>

/** The most lines that are shown of a timeline: the last ones. */
const mostLines = 1_000

/** What happened to a link, oldest first. Throws NOT_FOUND. */
export async function readTimeline(scope: Scope, linkId: string): Promise<Timeline> {
  const { id } = await getLink(scope, linkId)
  return scope.db.query<Timeline[number]>(findLines(scope.workspace.id, id, mostLines))
}

/** A line of a timeline, as it is written. */
export interface Line {
  readonly linkId: string
  readonly source: Source
  readonly eventId?: string | null
  readonly paymentId?: string | null
  readonly before: LinkStatus | null
  readonly after: LinkStatus
  readonly verdict: Verdict
}

/** Writes a line of a link's timeline, in the transaction of what it tells of. */
export async function writeLine({ db, workspace, now }: Scope, line: Line): Promise<void> {
  const { linkId, source, eventId = null, paymentId = null, before, after, verdict } = line
  await db.query(insertLine(workspace.id, linkId, now(), source, eventId, paymentId, before, after, verdict))
}
