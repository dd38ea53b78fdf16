import { previousClaim } from '#shared/features/queues/items/schemas.ts'
import { instant, nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

const text = nullable(t.String())

/** An entry of a queue's history (docs/contract/queues.md#history); the scan fields are null in other entries. */
const historyEntry = t.Object(
  {
    id: uuid,
    item_id: nullable(t.String({ format: 'uuid', description: 'null for a scan of an unknown key.' })),
    key: t.String(),
    kind: t.String({
      description:
        'added, moved, claimed, released, expired, edited, deleted, button, scanned (no item moved or created) or cancelled (by intake).',
    }),
    from_stage: text,
    to_stage: text,
    status: text,
    verdict: text,
    payload: nullable(t.Record(t.String(), t.Unknown())),
    scan_id: text,
    scanned_at: nullable(instant),
    station: text,
    actor_id: nullable(uuid),
    actor_type: t.String(),
    note: t.String(),
    previous_claim: previousClaim,
    created_at: instant,
  },
  { title: 'QueueEvent' },
)
export const historySchema = schema(t.Array(historyEntry))
export type HistoryEntry = TypeOf<typeof historySchema>[number]

export const historyQuery = schema(
  t.Object({
    item_id: t.Optional(uuid),
    limit: t.Integer({ minimum: 1, maximum: 500, default: 100 }),
  }),
)
export type HistoryQuery = TypeOf<typeof historyQuery>
