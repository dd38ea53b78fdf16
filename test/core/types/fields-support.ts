import { createOrg, type Org } from '#test/support/factories.ts'
import type { World } from '#test/support/world.ts'

/** An id that no record and no field has. */
export const missing = '01900000-0000-7000-8000-000000000000'

/** A workspace with a type `deals`, and functions that add fields to it and list them. */
export async function createDeals(w: World) {
  const org = await createOrg(w)
  await org.owner.post(`${org.path}/types`, { key: 'deals', label: 'Deals' })
  const add = (field: object) => org.owner.post(`${org.path}/fields`, { entity_type: 'deals', label: 'A field', type: 'string', ...field })
  const list = async () => (await org.owner.get(`${org.path}/fields?entity_type=deals`)).data
  return { org, add, list, records: `${org.path}/records/deals` }
}

/** The columns of a type's table that are not dropped. */
export async function readColumns(w: World, { id }: Org, table: string): Promise<string[]> {
  const { rows } = await w.db.query<{ attname: string }>(
    'select attname from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped',
    [`ws_${id.replaceAll('-', '')}.${table}`],
  )
  return rows.map(({ attname }) => attname)
}
