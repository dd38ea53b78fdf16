import type { World } from '#test/support/world.ts'

/** Creates a type `deals` with these fields, and returns the paths of its records and of each field by key. */
export async function createDeals(w: World, fields: readonly { readonly key: string; readonly type: string }[]) {
  const { owner, path } = w.org
  await owner.post(`${path}/types`, { key: 'deals', label: 'Deals' })
  const paths: Record<string, string> = {}
  for (const field of fields) {
    const made = await owner.post(`${path}/fields`, { entity_type: 'deals', label: field.key, ...field })
    if (made.status !== 201) throw new Error(made.text)
    paths[field.key] = `${path}/fields/${made.data.id}`
  }
  return { records: `${path}/records/deals`, fields: paths }
}

/** The stored values of all records of the type in the order of creation, by field key. */
export async function storedValues(w: World, ...keys: readonly string[]): Promise<Record<string, string | null>[]> {
  const { rows: fields } = await w.db.query(
    `select field.key, field.column_name
     from fields as field join record_types as type on type.id = field.type_id and type.workspace_id = field.workspace_id
     where type.workspace_id = $1 and type.key = 'deals'`,
    [w.org.id],
  )
  const columns = keys.map((key) => `"${fields.find((field) => field.key === key)?.column_name}"::text as "${key}"`)
  return (await w.db.query(`select ${columns.join(', ')} from ws_${w.org.id.replaceAll('-', '')}.deals order by id`)).rows
}
