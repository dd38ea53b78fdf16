/** A value that came from elsewhere with texts that PostgreSQL can hold: no NUL character and no half of a pair. */
export function cleanJson(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value)
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value
  if (Array.isArray(value)) return value.map(cleanJson)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [cleanText(key), cleanJson(item)]))
}

const cleanText = (text: string): string => text.toWellFormed().replaceAll('\0', '�')
