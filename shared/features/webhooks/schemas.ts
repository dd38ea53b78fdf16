import { filterJson } from '#shared/core/records/schemas.ts'
import { linkedCursor, pageLimit } from '#shared/platform/db/lists.ts'
import { instant, nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

/** What a caller sets of a webhook (docs/contract/webhooks.md#a-webhook). */
const properties = {
  url: t.String({ maxLength: 2_000, description: 'An absolute http or https address, without user name and password.' }),
  types: t.Array(t.String(), {
    minItems: 1,
    maxItems: 100,
    description: 'Types of events; `records.*` means all that begin so. `GET /events/types` lists them.',
  }),
}
const optional = {
  description: t.String({ maxLength: 500 }),
  object_type: nullable(t.String({ description: 'Key of a record type: events of its records alone.' })),
  filter: nullable(filterJson),
  service_account_id: nullable(
    t.String({ description: 'The account with whose rights events are shown; null for those of the maker. The maker must hold them too.' }),
  ),
  enabled: t.Boolean(),
}

/** Body that creates a webhook. */
export const webhookInput = schema(t.Object({ ...properties, ...t.Partial(t.Object(optional)).properties }, { title: 'WebhookInput' }))
export type WebhookInput = TypeOf<typeof webhookInput>

/** Body that changes a webhook. What is left out stays; null clears. */
export const webhookChange = schema(t.Object(t.Partial(t.Object({ ...properties, ...optional })).properties, { title: 'WebhookChange' }))
export type WebhookChange = TypeOf<typeof webhookChange>

const view = {
  id: uuid,
  ...properties,
  ...optional,
  service_account_id: nullable(uuid),
  status: t.Enum(['active', 'failing', 'disabled'], {
    description: 'failing: from a failed try to the next that is taken. disabled: nothing is sent.',
    'x-changes-by-itself': true,
  }),
  failing_since: nullable(instant),
  last_delivery_at: nullable(t.String({ format: 'date-time', description: 'When a try was last taken.' })),
  next_attempt_at: nullable(t.String({ format: 'date-time', description: 'When the next waiting delivery is due.' })),
  maker_id: uuid,
  created_at: instant,
  updated_at: instant,
}

/** A webhook in answers. */
export const webhookView = schema(
  t.Object(view, { title: 'Webhook', description: 'Sends the events of a workspace to an address as they happen.' }),
)
export type WebhookView = TypeOf<typeof webhookView>

/** A webhook with its new secret, which no later answer has. */
export const webhookWithSecret = schema(
  t.Object(
    { ...view, secret: t.String({ description: 'What signs deliveries, `whsec_…`. It is in this answer alone.' }) },
    { title: 'WebhookWithSecret' },
  ),
)
export type WebhookWithSecret = TypeOf<typeof webhookWithSecret>

const attempt = t.Object(
  {
    at: instant,
    status: nullable(t.Integer({ description: 'Status of the answer; null without one.' })),
    ms: t.Integer({ minimum: 0 }),
    error: nullable(t.String({ description: 'Why there was no answer.' })),
  },
  { title: 'WebhookAttempt' },
)
export type WebhookAttempt = TypeOf<ReturnType<typeof schema<typeof attempt>>>

export const deliveryStatuses = ['waiting', 'delivered', 'failed'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]
const deliveryStatus = t.Enum([...deliveryStatuses])

const delivery = t.Object(
  {
    id: uuid,
    event_seq: nullable(t.Integer({ description: 'Number of the event; null for the example of a test.' })),
    status: deliveryStatus,
    attempts: t.Array(attempt, { description: 'The last 30 tries, in their order.' }),
  },
  { title: 'WebhookDelivery', description: 'An event that a webhook sends. It is kept for 30 days.' },
)

/** A delivery in answers. */
export const deliveryView = schema(delivery)
export type DeliveryView = TypeOf<typeof deliveryView>

export const deliveryList = schema(t.Array(delivery))

export const deliveryQuery = schema(
  t.Object({
    status: t.Optional(deliveryStatus),
    limit: pageLimit(),
    cursor: t.Optional(t.String({ description: linkedCursor })),
  }),
)
export type DeliveryQuery = TypeOf<typeof deliveryQuery>

/** Body of a recovery. */
export const recoveryInput = schema(
  t.Object(
    {
      since_seq: t.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Failed deliveries of events above it are sent again.',
      }),
    },
    { title: 'WebhookRecoveryInput' },
  ),
)

/** What a recovery sends again. */
export const recovery = schema(
  t.Object({ count: t.Integer({ minimum: 0, description: 'Deliveries that are sent again.' }) }, { title: 'WebhookRecovery' }),
)
