import { nameSchema } from '#shared/platform/kernel/name.ts'
import { instant, nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

/** The supported providers (docs/contract/payments.md#providers). */
export const providerNames = ['sandbox', 'stripe', 'razorpay'] as const
export type ProviderName = (typeof providerNames)[number]

const redirectUrl = nullable(
  t.String({
    maxLength: 2_000,
    description: 'Where a payer is sent after paying, unless a link says otherwise: an absolute http(s) address.',
  }),
)
const mode = t.Enum(['live', 'test'])
const credentials = t.Record(t.String(), t.Unknown(), {
  description:
    'stripe {secret_key, webhook_secret}, razorpay {key_id, key_secret, webhook_secret}, sandbox {}. Kept encrypted and never returned.',
})

/** Input of a connection. */
export const connectionInput = schema(
  t.Object(
    {
      provider: t.Enum([...providerNames]),
      name: nameSchema(120),
      mode,
      redirect_url: t.Optional(redirectUrl),
      credentials: t.Optional(credentials),
    },
    { title: 'PaymentConnectionInput' },
  ),
)
export type ConnectionInput = TypeOf<typeof connectionInput>

/**
 * Change of a connection. Omitted properties and credentials stay unchanged, unless another mode or account is sent; each sent credential
 * replaces the previous one.
 */
export const connectionChange = schema(
  t.Object(
    {
      name: t.Optional(nameSchema(120)),
      mode: t.Optional(mode),
      redirect_url: t.Optional(redirectUrl),
      credentials: t.Optional(credentials),
    },
    { title: 'PaymentConnectionChange' },
  ),
)
export type ConnectionChange = TypeOf<typeof connectionChange>

/** A connection in answers (docs/contract/payments.md#connections). */
export const connectionView = schema(
  t.Object(
    {
      id: uuid,
      provider: t.Enum([...providerNames]),
      name: t.String(),
      mode,
      redirect_url: nullable(t.String()),
      status: t.Enum(['unchecked', 'ok', 'failed'], { description: 'Result of the last test.' }),
      last_checked_at: nullable(instant),
      last_error: t.Optional(t.String({ description: 'Present when the last test failed.' })),
      created_at: instant,
      webhook_url: t.String({ description: 'The webhook address to enter at the provider.' }),
      warnings: t.Optional(t.Array(t.String(), { description: 'Credentials that this change removed; absent where it removed none.' })),
    },
    { title: 'PaymentConnection', description: 'An account at a payment provider.' },
  ),
)
export type ConnectionView = TypeOf<typeof connectionView>
