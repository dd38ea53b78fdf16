import { allColumns, type FloorType, filledColumns, tableOf } from '#bench/floor/type.ts'

/** Kontor's statements of a type, without the parts for rules, events and caches. */
export function statementsOf(type: FloorType) {
  const [table, all] = [tableOf(type), allColumns(type)]
  const { stage, amount, due, name, notes } = type.columns
  const page = (where: string, order: string, limit: number) =>
    `select counted.total, page.* from (${where === 'true' ? countOfAll(type) : `select count(*) as total from ${table} where ${where}`}) as counted
     left join (select ${all} from ${table} where ${where} order by ${order} limit $${limit} offset $${limit + 1}) as page on true`
  return {
    get: `select ${all} from ${table} where id = $1`,
    list: `select ${all} from ${table} order by id desc limit $1`,
    filter: page(`"${stage}" = $1`, 'id desc', 2),
    range: page(`"${amount}" >= $1::numeric and "${amount}" < $2::numeric`, 'id desc', 3),
    wide: page(
      `"${amount}" >= $1::numeric and "${amount}" < $2::numeric and "${due}" >= $3::date`,
      `"${amount}" desc nulls last, id desc`,
      4,
    ),
    any: page(`"${stage}" = $1 or "${amount}" = $2::numeric or "${due}" = $3::date`, 'id desc', 4),
    counts: `select "${stage}" as stage, count(*) as count, count(*) over () as total from ${table}
       group by 1 order by 1 nulls last limit $1 offset $2`,
    sort: page('true', `"${due}" asc nulls last, id desc`, 1),
    q: page([name, notes].map((column, index) => `lower("${column}" collate "pg_c_utf8") like $${index + 1}`).join(' or '), 'id desc', 3),
    total: page('true', 'id desc', 1),
    lock: `select ${all} from ${table} where id = $1 for update`,
    update: `with changed as (
        update ${table} set updated_at = greatest(now(), created_at), "${stage}" = $2, "${amount}" = $3::numeric where id = $1 returning id
      ),
      audited as (
        insert into audit_entries (${auditColumns})
        select $4::uuid, $5::uuid, 'user', 'record.updated', $6, id, $7::jsonb, $8::jsonb, 'floor' from changed
      )
      select id from changed`,
    create: `with fresh as (select uuidv7() as id),
      changed as (
        insert into ${table} (${allColumns(type)})
        select id, $1::uuid, uuid_extract_timestamp(id), uuid_extract_timestamp(id), $2, $3, $4::numeric, $5, $6::date, $7, $8 from fresh
        returning id, created_at
      ),
      audited as (
        insert into audit_entries (${auditColumns})
        select $9::uuid, $1::uuid, 'user', 'record.created', $10, id, null, $11::jsonb, 'floor' from changed
      ),
      counted as (${counted('$9', '$12')})
      select id, created_at from changed`,
    export: `select id, created_at, ${filledColumns(type)} from ${table} order by id desc limit $1`,
    import: `with fresh as materialized (
        select uuidv7() as id, sent.*
        from unnest($4::text[], $5::text[], $6::numeric[], $7::date[], $8::text[], $9::text[]) as sent (name, stage, amount, due, email, notes)
      ),
      changed as (
        insert into ${table} (${allColumns(type)})
        select id, $2::uuid, uuid_extract_timestamp(id), uuid_extract_timestamp(id), name, stage, amount, 'USD', due, email, notes from fresh
        returning id
      ),
      audited as (
        insert into audit_entries (${auditColumns})
        select $1::uuid, $2::uuid, 'user', 'record.created', $10, id, null, to_jsonb(fresh) - 'id', 'floor' from fresh
      ),
      counted as (${counted('$1', '$3')})
      select count(*) as created from changed`,
  } as const
}

/** The counter that every creation updates, so that no request counts a million records. */
const countOfAll = ({ workspaceId, typeId }: FloorType): string =>
  `select coalesce(sum(records), 0)::bigint as total from record_counts where workspace_id = '${workspaceId}' and type_id = '${typeId}'`

/** The name of a prepared statement of the floor. */
export type StatementName = keyof ReturnType<typeof statementsOf>

const auditColumns = 'workspace_id, actor_id, actor_type, action, object_type, record_id, before, after, request_id'

const counted = (workspace: string, type: string) =>
  `insert into record_counts as count (workspace_id, type_id, share, records)
   select ${workspace}::uuid, ${type}::uuid, pg_backend_pid() % 32, count(*) from changed having count(*) > 0
   on conflict (workspace_id, type_id, share) do update set records = count.records + excluded.records`
