import { sender } from '#bench/client.ts'
import type { Loaded } from '#bench/data/load.ts'

/** Optional fields of each kind in a wide type. */
const fieldsOfEach = 10
const kinds = ['string', 'text', 'number', 'date', 'bool', 'email'] as const

/** Makes a record type of 60 optional fields and returns their keys, grouped by kind. */
export async function makeWideType(url: string, loaded: Loaded, key: string): Promise<readonly string[]> {
  const send = sender(url, loaded)
  await send('POST', '/types', { key, label: 'Wide' })
  const keys = kinds.flatMap((type) => Array.from({ length: fieldsOfEach }, (_, index) => ({ type, key: `${type}_${index}` })))
  for (const { type, key: field } of keys) await send('POST', '/fields', { entity_type: key, key: field, label: field, type })
  return keys.map(({ key: field }) => field)
}

/** A value of one of these fields. */
export function wideValue(key: string, index: number): unknown {
  const [type] = key.split('_')
  if (type === 'number') return index % 1_000
  if (type === 'date') return `2026-${String(1 + (index % 12)).padStart(2, '0')}-01`
  if (type === 'bool') return index % 2 === 0
  return type === 'email' ? `someone${index}@example.com` : `word ${index}`
}
