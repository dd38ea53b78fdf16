import type { KnownReferences } from '#shared/core/automation/block.ts'
import { hasReference, toText } from '#shared/core/automation/template.ts'

/** Problems of a setting that names something in the workspace; none when it is absent, blank, or filled in at run time. */
export function unknownNameProblems(name: string, value: unknown, known: ReadonlySet<string>, what: string): string[] {
  if (value === undefined || hasReference(value)) return []
  const text = toText(value).trim()
  const isKnown = text === '' || known.has(text) || known.has(text.toLowerCase())
  return isKnown ? [] : [`${name} must be ${what}`]
}

/** Problems of a setting that must be the key of a record type; none when it is absent or filled in at run time. */
export const typeProblems = (objectType: unknown, { fieldKeys }: KnownReferences, name = 'object_type'): string[] =>
  objectType === undefined || hasReference(objectType) || fieldKeys.has(objectType as string)
    ? []
    : [`${name} must be the key of a record type`]

/** One problem for each key that is no field of the type; none when the type is unknown or filled in at run time. */
export function fieldProblems(objectType: unknown, keys: readonly unknown[], { fieldKeys }: KnownReferences, name: string): string[] {
  const known = typeof objectType === 'string' ? fieldKeys.get(objectType) : undefined
  if (!known) return []
  return keys.flatMap((key) =>
    hasReference(key) || known.has(String(key))
      ? []
      : [`${name}${name === 'values' ? `.${String(key)}` : ''} names no field of ${objectType}`],
  )
}

/** Problems of optional ids that contain only blanks. */
export const blankProblems = (config: Readonly<Record<string, unknown>>, names: readonly string[]): string[] =>
  names.flatMap((name) => (typeof config[name] === 'string' && config[name].trim() === '' ? [`${name} must not be blank`] : []))
