import type { KnownReferences } from '#shared/core/automation/block.ts'
import { hasReference, toText } from '#shared/core/automation/template.ts'

/** What is wrong with a setting that names something of the workspace; nothing where it is absent, blank, or filled in when the block runs. */
export function unknownNameProblems(name: string, value: unknown, known: ReadonlySet<string>, what: string): string[] {
  if (value === undefined || hasReference(value)) return []
  const text = toText(value).trim()
  const isKnown = text === '' || known.has(text) || known.has(text.toLowerCase())
  return isKnown ? [] : [`${name} must be ${what}`]
}

/** What is wrong with the type that a block names, where that is known before it runs. */
export const typeProblems = (objectType: unknown, { fieldKeys }: KnownReferences, name = 'object_type'): string[] =>
  objectType === undefined || hasReference(objectType) || fieldKeys.has(objectType as string)
    ? []
    : [`${name} must be the key of a record type`]

/** The keys that are no fields of a type, one problem for each; nothing where the type is unknown or filled in later. */
export function fieldProblems(objectType: unknown, keys: readonly unknown[], { fieldKeys }: KnownReferences, name: string): string[] {
  const known = typeof objectType === 'string' ? fieldKeys.get(objectType) : undefined
  if (!known) return []
  return keys.flatMap((key) =>
    hasReference(key) || known.has(String(key))
      ? []
      : [`${name}${name === 'values' ? `.${String(key)}` : ''} names no field of ${objectType}`],
  )
}

/** An optional id that was sent as blanks alone. */
export const blankProblems = (config: Readonly<Record<string, unknown>>, names: readonly string[]): string[] =>
  names.flatMap((name) => (typeof config[name] === 'string' && config[name].trim() === '' ? [`${name} must not be blank`] : []))
