import { jsonDouble } from '#shared/platform/kernel/values/json.ts'
import { branchesOf, isJsonObject, mapOf } from '#shared/platform/kernel/values/json-schema.ts'

/**
 * Replaces exact numbers (`JSON.rawJSON`) by plain ones where the schema asks for a number: `1.0`, `5e0`. A number that a double cannot hold
 * is replaced only beyond a bound of the schema, so that the failure names the bound. Returns the value itself if nothing was replaced.
 */
export const withDoubles = (value: unknown, schema: unknown): unknown => replaceIn(value, branchesOf(schema))

type Branches = ReturnType<typeof branchesOf>

function replaceIn(value: unknown, branches: Branches): unknown {
  if (branches.length === 0 || typeof value !== 'object' || value === null) return value
  if (JSON.isRawJSON(value)) return toDouble(value, branches)
  if (Array.isArray(value)) {
    const items = branches.filter(({ maxItems = Number.POSITIVE_INFINITY }) => value.length <= (maxItems as number))
    const below = items.flatMap(({ items }) => branchesOf(items))
    if (below.length === 0) return value
    const replaced = value.map((item) => replaceIn(item, below))
    return replaced.some((item, index) => item !== value[index]) ? replaced : value
  }
  if (!isJsonObject(value)) return value
  let replaced: Record<string, unknown> | undefined
  for (const [key, part] of Object.entries(value)) {
    const double = replaceIn(
      part,
      branches.flatMap((branch) => schemasOfKey(branch, key)),
    )
    if (double === part) continue
    replaced ??= { ...value }
    replaced[key] = double
  }
  return replaced ?? value
}

function schemasOfKey(branch: Branches[number], key: string): Branches {
  const { properties } = branch
  if (isJsonObject(properties) && Object.hasOwn(properties, key)) return branchesOf(properties[key])
  return Object.values(mapOf(branch)).flatMap(branchesOf)
}

function toDouble(raw: RawJson, branches: Branches): number | RawJson {
  const numbers = branches.filter(({ type }) => type === 'number' || type === 'integer')
  if (numbers.length === 0) return raw
  const double = Number(raw.rawJSON)
  const isBeyond = numbers.some(
    ({ minimum = -Infinity, maximum = Infinity }) => double < (minimum as number) || double > (maximum as number),
  )
  return isBeyond && Number.isFinite(double) ? double : (jsonDouble(raw) ?? raw)
}
