import { sender } from '#bench/client.ts'
import type { Loaded } from '#bench/data/load.ts'
import { floorNumbers, type Living } from '#bench/floor/living-statement.ts'
import { withDatabase } from '#bench/servers/connection.ts'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'

/**
 * Makes a record type whose creations have effects, as the floor's do: a number, two formulas, and a notification rule on new records.
 * Returns what the floor needs to write the same rows.
 */
export async function makeLivingType(url: string, databaseUrl: string, loaded: Loaded): Promise<Living> {
  const send = sender(url, loaded)
  await send('POST', '/types', { key: 'orders', label: 'Orders' })
  const field = (key: string, type: string) => send('POST', '/fields', { entity_type: 'orders', key, label: key, type })
  for (const [key, type] of [
    ['price', 'number'],
    ['count', 'number'],
    ['due', 'date'],
    ['notes', 'text'],
  ] as const)
    await field(key, type)
  const { id: number } = await field('number', 'string')
  await send('PUT', `/fields/${number}/autogen`, { pattern: 'O-{yyyy}-{seq:6}' })
  const { id: total } = await field('total', 'currency')
  await send('PUT', `/fields/${total}/formula`, { formula: 'ROUND(price * count * 1.19, 2)' })
  const { id: size } = await field('size', 'string')
  await send('PUT', `/fields/${size}/formula`, { formula: 'IF(total > 1000, "big", "small")' })
  await send('POST', '/notification-rules', {
    name: 'New order',
    object_type: 'orders',
    event: 'created',
    title: 'A new order',
  })
  const { workspaceId } = loaded
  return { workspaceId, schema: schemaOf(workspaceId), ...(await columnsOf(databaseUrl, workspaceId)) }
}

function columnsOf(databaseUrl: string, workspaceId: string): Promise<Pick<Living, 'typeId' | 'columns'>> {
  return withDatabase(databaseUrl, 'living', async (db) => {
    await db.query({ text: `create sequence ${floorNumbers} cache 32` })
    const text = `select type.id as "typeId", jsonb_object_agg(field.key, column_name) as columns
      from record_types as type join fields as field on field.type_id = type.id and field.workspace_id = type.workspace_id
      where type.workspace_id = $1 and type.key = 'orders' group by type.id`
    const [type] = await db.query<Pick<Living, 'typeId' | 'columns'>>({ text, values: [workspaceId] })
    if (!type) throw new Error('The living type is missing')
    return type
  })
}
