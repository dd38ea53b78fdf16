import type { World } from '#test/support/world.ts'

export const csv = { 'content-type': 'text/csv' }
export const records = (w: World, type: string) => `${w.org.path}/records/${type}`

/** Imports CSV text into a type as the owner. */
export const importInto = (w: World, type: string, text: string | Uint8Array) => w.org.owner.post(`${records(w, type)}/import`, text, csv)

/** Query parameters of an import. */
type Parameters = Readonly<Record<string, string | boolean>>

/** Imports CSV text with these query parameters, by default as the owner. */
export function importWith(w: World, type: string, parameters: Parameters, text: string | Uint8Array, client = w.org.owner) {
  const query = new URLSearchParams(Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)]))
  return client.post(`${records(w, type)}/import?${query}`, text, csv)
}

/** The values of all records of a type in the order of their creation. */
export async function valuesOf(w: World, type: string): Promise<readonly Record<string, unknown>[]> {
  const { data } = await w.org.owner.get(`${records(w, type)}?sort=created_at&dir=asc&limit=200`)
  return data.records.map(({ values }: { values: Record<string, unknown> }) => ({ ...values }))
}

/** The number of records of a type. */
export const totalOf = async (w: World, type: string) => (await w.org.owner.get(`${records(w, type)}?offset=0`)).data.total

/** A field of `typeOf`: its properties, and the formula or the pattern of numbers that it gets once it exists. */
interface NewField {
  readonly formula?: string
  readonly autogen?: string
  readonly [property: string]: unknown
}

/** Makes a record type with these fields, strings unless they say otherwise. */
export async function typeOf(w: World, key: string, fields: Readonly<Record<string, NewField>>): Promise<void> {
  await w.org.owner.post(`${w.org.path}/types`, { key, label: key })
  for (const [field, { formula, autogen, ...more }] of Object.entries(fields)) {
    const made = await w.org.owner.post(`${w.org.path}/fields`, { entity_type: key, key: field, label: field, type: 'string', ...more })
    if (made.status !== 201) throw new Error(made.text)
    const path = `${w.org.path}/fields/${made.data.id}`
    if (formula !== undefined) await w.org.owner.put(`${path}/formula`, { formula })
    if (autogen !== undefined) await w.org.owner.put(`${path}/autogen`, { pattern: autogen })
  }
}
