import { Counter } from 'prom-client'
import { registry } from '#api/http/metrics.ts'
import { type ErrorCode, Problem } from '#shared/platform/kernel/errors.ts'

const deliveries = new Counter({
  name: 'kontor_payment_webhooks_total',
  help: 'Webhook deliveries of payment providers: new, repeated, refused (signature or form), unknown connection or failed (server error)',
  labelNames: ['outcome'],
  registers: [registry],
})

const refusals: Partial<Record<ErrorCode, string>> = { NOT_FOUND: 'unknown', VALIDATION_ERROR: 'refused' }

/** Counts a delivery by its outcome: whether its event is new, or the error. */
export async function countDelivery(isNew: Promise<boolean>): Promise<void> {
  try {
    deliveries.inc({ outcome: (await isNew) ? 'new' : 'repeated' })
  } catch (error) {
    deliveries.inc({ outcome: (error instanceof Problem && refusals[error.code]) || 'failed' })
    throw error
  }
}
