import type { World } from '#test/support/world.ts'

export const csv = { 'content-type': 'text/csv' }
export const records = (w: World, type: string) => `${w.org.path}/records/${type}`

/** Imports CSV text into a type as the owner. */
export const importInto = (w: World, type: string, text: string | Uint8Array) => w.org.owner.post(`${records(w, type)}/import`, text, csv)

/** The number of records of a type. */
export const totalOf = async (w: World, type: string) => (await w.org.owner.get(`${records(w, type)}?offset=0`)).data.total

/** Makes a record type with these fields, strings unless they say otherwise. */
export async function typeOf(w: World, key: string, fields: Readonly<Record<string, object>>): Promise<void> {
  await w.org.owner.post(`${w.org.path}/types`, { key, label: key })
  for (const [field, more] of Object.entries(fields)) {
    const made = await w.org.owner.post(`${w.org.path}/fields`, { entity_type: key, key: field, label: field, type: 'string', ...more })
    if (made.status !== 201) throw new Error(made.text)
  }
}
