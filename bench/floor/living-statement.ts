/** Names of the living type for the floor. */
export interface Living {
  readonly workspaceId: string
  readonly schema: string
  readonly typeId: string
  readonly columns: Readonly<Record<string, string>>
}

/** The sequence that numbers the floor's orders, PostgreSQL's cheapest numbering. */
export const floorNumbers = 'floor_numbers'

/**
 * Makes an order with the same rows as Kontor: record, audit entry, count and event, in one statement. Values: actor, price, count, due,
 * notes, total, size, workspace, values as JSON, type.
 */
export const createLiving = ({ schema, columns: { price, count, due, notes, number, total, size } }: Living): string =>
  `with fresh as (select uuidv7() as id),
    changed as (
      insert into "${schema}"."orders" (id, created_by, created_at, updated_at, "${price}", "${count}", "${due}", "${notes}", "${number}", "${total}",
        "${total}_code", "${size}")
      select id, $1::uuid, uuid_extract_timestamp(id), uuid_extract_timestamp(id), $2::numeric, $3::numeric, $4::date, $5,
        'O-2026-' || lpad(nextval('${floorNumbers}')::text, 6, '0'), $6::numeric, 'USD', $7 from fresh
      returning id, created_at
    ),
    audited as (
      insert into audit_entries (workspace_id, actor_id, actor_type, action, object_type, record_id, before, after, request_id)
      select $8::uuid, $1::uuid, 'user', 'record.created', 'orders', id, null, $9::jsonb, 'floor' from changed
      returning id
    ),
    counted as (
      insert into record_counts as count (workspace_id, type_id, share, records)
      select $8::uuid, $10::uuid, pg_backend_pid() % 32, count(*) from changed having count(*) > 0
      on conflict (workspace_id, type_id, share) do update set records = count.records + excluded.records
    ),
    dispatched as (
      insert into event_inbox (workspace_id, event_id, type, topic, subject_id, created_by, created_at, updated_at, cause)
      select $8::uuid, audited.id, 'records.created', 'orders', changed.id, $1::uuid, created_at, created_at,
        '{"actorId": null, "actorType": "user", "requestId": "floor", "depth": 0}'
      from audited cross join changed
    )
    select id, created_at from changed`

/** The parameters of an order, with its two formulas computed. */
export function livingValues({ price, count, due, notes }: Readonly<Record<string, string>>): unknown[] {
  const total = Math.round(Number(price) * Number(count) * 119) / 100
  return [price, count, due, notes, total, total > 1000 ? 'big' : 'small']
}
