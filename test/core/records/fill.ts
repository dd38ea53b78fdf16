import type { World } from '#test/support/world.ts'

/**
 * Inserts records into a type's table in one statement, past the API, for tests that need many. `expressions` are SQL by field key, of the
 * record's number `n` from 1; the records are created in that order.
 */
export async function fillRecords(w: World, typeKey: string, count: number, expressions: Readonly<Record<string, string>>): Promise<void> {
  const { rows: fields } = await w.db.query(
    `select field.key, field.column_name, field.type_id
     from fields as field join record_types as type on type.id = field.type_id and type.workspace_id = field.workspace_id
     where type.workspace_id = $1 and type.key = $2`,
    [w.org.id, typeKey],
  )
  const filled = fields.filter(({ key }) => key in expressions)
  const columns = filled.map(({ column_name }) => `, "${column_name}"`).join('')
  const values = filled.map(({ key }) => `, ${expressions[key]}`).join('')
  await w.db.query(
    `insert into ws_${w.org.id.replaceAll('-', '')}."${typeKey}" (id, created_at, updated_at${columns})
     select id, uuid_extract_timestamp(id), uuid_extract_timestamp(id)${values}
     from (select n, uuidv7() as id from generate_series(1, ${count}) as n) as fresh`,
  )
  await w.db.query(
    `insert into record_counts (workspace_id, type_id, share, records) values ($1, $2, 0, $3)
     on conflict (workspace_id, type_id, share) do update set records = record_counts.records + excluded.records`,
    [w.org.id, fields[0].type_id, count],
  )
}
