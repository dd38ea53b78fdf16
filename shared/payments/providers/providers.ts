import type { ProviderName } from '#shared/payments/connection.ts'
import type { Provider } from '#shared/payments/providers/provider.ts'
import { razorpay } from '#shared/payments/providers/razorpay.ts'
import { sandbox } from '#shared/payments/providers/sandbox.ts'
import { stripe } from '#shared/payments/providers/stripe.ts'

/** All providers by name. */
export const providers: Readonly<Record<ProviderName, Provider>> = Object.freeze({ sandbox, stripe, razorpay })
