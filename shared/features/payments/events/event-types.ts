import { defineEvents } from '#shared/core/events/show-stored.ts'
import { t } from '#shared/platform/kernel/schema.ts'

const common = {
  subject: t.Object({ id: t.String({ format: 'uuid', description: 'Of the payment link.' }) }, { title: 'PaymentLinkSubject' }),
  data: t.Object({ amount: t.String(), currency: t.String() }, { title: 'PaymentLinkData' }),
  example: { subject: { id: '01a1a303-9be9-7769-afc6-36a0c3ffa1cf' }, data: { amount: '128.50', currency: 'EUR' } },
}

export const paymentEvents = defineEvents(
  'payments:read',
  [
    { ...common, type: 'payments.link.paid', description: 'A payment link was paid, also one that had ended.' },
    { ...common, type: 'payments.link.cancelled', description: 'An open payment link was cancelled.' },
    { ...common, type: 'payments.link.expired', description: 'An open payment link expired.' },
  ],
  'payments',
)
