import type { ProviderName } from '#shared/features/payments/connections/schemas.ts'
import type { Provider } from '#shared/features/payments/providers/provider.ts'
import { razorpay } from '#shared/features/payments/providers/razorpay.ts'
import { sandbox } from '#shared/features/payments/providers/sandbox.ts'
import { stripe } from '#shared/features/payments/providers/stripe.ts'

/** All providers by name. */
export const providers: Readonly<Record<ProviderName, Provider>> = Object.freeze({ sandbox, stripe, razorpay })
