import type { TestFn } from 'ava'
import { startRazorpay } from '#test/features/payments/razorpay-stand-in.ts'
import { startStripe } from '#test/features/payments/stripe-stand-in.ts'
import { listening } from '#test/support/listening.ts'
import { shareInThread } from '#test/support/share-in-thread.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

type Closable = { readonly close: () => Promise<unknown> }

/** A world that calls stand-ins of the providers. */
export interface PaymentsWorld extends World {
  readonly stripe: Awaited<ReturnType<typeof startStripe>>
  readonly razorpay: Awaited<ReturnType<typeof startRazorpay>>
}

/** One server in the place of api.stripe.com for all files of a thread. */
export const shareStripe = (test: TestFn): (() => Promise<PaymentsWorld['stripe']>) =>
  shareInThread(test, () => opened(startStripe()), 'Stripe')

/** One world with stand-ins of the providers for all files of a thread; each test takes a workspace of its own. */
export function shareProviders(test: TestFn): () => Promise<PaymentsWorld> {
  const stripe = shareStripe(test)
  const razorpay = shareInThread(test, () => opened(startRazorpay()), 'Razorpay')
  const environment = async () => ({
    ...(await listening()),
    STRIPE_API_URL: (await stripe()).url,
    RAZORPAY_API_URL: (await razorpay()).url,
    LOG_LEVEL: 'silent',
  })
  const newWorkspace = shareWorld(test, environment, { key: 'world of payments' })
  return async () => ({ ...(await newWorkspace()), stripe: await stripe(), razorpay: await razorpay() })
}

async function opened<T extends Closable>(starting: Promise<T>) {
  const value = await starting
  return { value, close: value.close }
}
