type Json = Readonly<Record<string, unknown>>

/** A body with one unknown key, and the path of that key. */
export interface WithUnknownKey {
  readonly path: string
  readonly body: unknown
}

const unknown = 'zzz_unknown'

/** For each object with fixed keys in a body: a body that reaches the object and has one unknown key in it. */
export function withUnknownKeys(schema: unknown): WithUnknownKey[] {
  return variantsOf(schema).flatMap((variant) => ofObject(variant))
}

function ofObject({ properties, items }: Json): WithUnknownKey[] {
  if (items !== undefined)
    return withUnknownKeys(items).map(({ path, body }) => ({ path: path.startsWith('[') ? `[0]${path}` : `[0].${path}`, body: [body] }))
  if (properties === undefined) return []
  const constants = Object.fromEntries(
    Object.entries(properties as Record<string, Json>).flatMap(([key, part]) => ('const' in part ? [[key, part.const]] : [])),
  )
  const below = Object.entries(properties as Json).flatMap(([key, part]) =>
    withUnknownKeys(part).map(({ path, body }) => ({
      path: path.startsWith('[') ? `${key}${path}` : `${key}.${path}`,
      body: { ...constants, [key]: body },
    })),
  )
  return [{ path: unknown, body: { ...constants, [unknown]: 1 } }, ...below]
}

function variantsOf(schema: unknown): Json[] {
  const { anyOf, allOf, oneOf } = schema as { anyOf?: unknown[]; allOf?: unknown[]; oneOf?: unknown[] }
  return (anyOf ?? oneOf ?? allOf)?.flatMap(variantsOf) ?? [schema as Json]
}
