type Json = Readonly<Record<string, unknown>>

/** Whether the value is an object with keys: no list, exact number or date. */
export const isJsonObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value) && !(value instanceof Date)

/** The alternatives of a schema, with those of nested unions and intersections. */
export function branchesOf(schema: unknown): Json[] {
  if (!isJsonObject(schema)) return []
  const { anyOf, oneOf, allOf } = schema as { anyOf?: unknown[]; oneOf?: unknown[]; allOf?: unknown[] }
  const parts = anyOf ?? oneOf ?? allOf
  return parts ? parts.flatMap(branchesOf) : [schema]
}

/** Schemas of a map's values, by key pattern. */
export const mapOf = ({ patternProperties, additionalProperties }: Json): Json =>
  isJsonObject(patternProperties) ? patternProperties : isJsonObject(additionalProperties) ? { '': additionalProperties } : {}
