import { Counter } from 'prom-client'
import { registry } from '#api/http/observe.ts'
import { type ErrorCode, Problem } from '#shared/kernel/errors.ts'

const deliveries = new Counter({
  name: 'kontor_payment_webhooks_total',
  help: 'Deliveries of payment providers: new, repeated, refused for their signature or form, of an unknown connection, or failed by us',
  labelNames: ['outcome'],
  registers: [registry],
})

const refusals: Partial<Record<ErrorCode, string>> = { NOT_FOUND: 'unknown', VALIDATION_ERROR: 'refused' }

/** Counts a delivery by what becomes of it: whether its event is new, or what is thrown. */
export async function countDelivery(isNew: Promise<boolean>): Promise<void> {
  try {
    deliveries.inc({ outcome: (await isNew) ? 'new' : 'repeated' })
  } catch (error) {
    deliveries.inc({ outcome: (error instanceof Problem && refusals[error.code]) || 'failed' })
    throw error
  }
}
