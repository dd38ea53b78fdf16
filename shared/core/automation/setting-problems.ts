import type { KnownReferences } from '#shared/core/automation/block.ts'
import { hasReference, toText } from '#shared/core/automation/template.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'

/** Problems of a setting that names something in the workspace; none when it is absent, blank, or filled in at run time. */
export function unknownNameProblems(name: string, value: unknown, known: Pick<ReadonlySet<string>, 'has'>, what: string): string[] {
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

/** One problem for each key that is no field of the type, which names the key; none when the type is unknown or filled in at run time. */
export function fieldProblems(objectType: unknown, keys: readonly unknown[], { fieldKeys }: KnownReferences, name: string): string[] {
  const known = typeof objectType === 'string' ? fieldKeys.get(objectType) : undefined
  if (!known) return []
  const problemOf = (key: unknown) =>
    name === 'values'
      ? `values.${String(key)} names no field of ${objectType}`
      : `${name} must be the key of a field of ${objectType}, got ${JSON.stringify(key)}`
  return keys.flatMap((key) => (hasReference(key) || known.has(String(key)) ? [] : [problemOf(key)]))
}

/** Problems of optional ids that contain only blanks; `path` precedes the names of settings inside of another. */
export const blankProblems = (config: Readonly<Record<string, unknown>>, names: readonly string[], path = ''): string[] =>
  names.flatMap((name) => (typeof config[name] === 'string' && config[name].trim() === '' ? [`${path}${name} must not be blank`] : []))

/** Reads the trimmed text of a setting as a step reads it. Throws VALIDATION_ERROR naming the setting. */
type SettingReader = (text: string, name: string) => unknown

/**
 * Problems of settings that their readers refuse. A setting is not judged when it is absent, blank, or filled in at run time. `path` precedes
 * the names of settings inside of another.
 */
export const valueProblems = (
  config: Readonly<Record<string, unknown>>,
  readers: Readonly<Record<string, SettingReader>>,
  path = '',
): string[] =>
  Object.entries(readers).flatMap(([name, read]) => {
    const text = hasReference(config[name]) ? '' : toText(config[name]).trim()
    return text === '' ? [] : refusalsOf(() => read(text, `${path}${name}`))
  })

/** The message with which reading refuses a value; empty when it does not. */
export function refusalsOf(read: () => unknown): string[] {
  try {
    read()
    return []
  } catch (error) {
    if (error instanceof Problem && error.code === 'VALIDATION_ERROR') return [error.message]
    throw error
  }
}
