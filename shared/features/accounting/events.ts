import { defineEvents } from '#shared/core/events/show-stored.ts'
import { nullable, t, uuid } from '#shared/platform/kernel/schema.ts'

const idOf = (description: string, title: string) => t.Object({ id: t.String({ format: 'uuid', description }) }, { title })
const date = t.String({ format: 'date' })
const source = { source_type: t.String(), source_id: nullable(t.String()) }
const entry = { id: '01a1a0e7-b90e-7a73-8fbc-6edeb8eace00' }

export const ledgerEvents = defineEvents(
  'accounting:read',
  [
    {
      type: 'ledger.entry.posted',
      description: 'An entry was posted. A reversal is told by `ledger.entry.reversed` alone.',
      subject: idOf('Of the entry.', 'EntrySubject'),
      data: t.Object({ date, ...source }),
      example: { subject: entry, data: { date: '2026-11-21', source_type: 'manual', source_id: null } },
    },
    {
      type: 'ledger.entry.reversed',
      description: 'An entry was reversed.',
      subject: idOf('Of the reversed entry.', 'ReversedEntrySubject'),
      data: t.Object({ date, ...source, reversal_id: uuid }),
      example: {
        subject: entry,
        data: { date: '2026-11-21', source_type: 'manual', source_id: null, reversal_id: '01a1a10c-d11c-7708-81c4-d18626b03748' },
      },
    },
    {
      type: 'ledger.sealed',
      description: 'Entries were sealed.',
      subject: idOf('Of the seal.', 'SealSubject'),
      data: t.Object({ until: t.String({ format: 'date-time' }), entries: t.Integer() }),
      example: { subject: { id: '01a1a1f0-5fdd-7104-b736-ad6f6842670a' }, data: { until: '2026-11-21T00:00:00.000000Z', entries: 42 } },
    },
  ],
  'accounting',
)
