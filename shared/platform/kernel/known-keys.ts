import { problem } from '#shared/platform/kernel/errors.ts'
import type { Schema } from '#shared/platform/kernel/schema.ts'
import { findNearestName, isSimilarName } from '#shared/platform/kernel/similar-names.ts'
import { branchesOf, isJsonObject, mapOf } from '#shared/platform/kernel/values/json-schema.ts'

type Json = Readonly<Record<string, unknown>>

/** The schemas and the stored object for a check of a body's keys. */
export interface KeyRules {
  /** The schema of the body. */
  readonly body: Schema<unknown>['json']
  /**
   * The schema of the object in responses; a body may repeat its keys. Undefined for objects that callers do not read before they send
   * them.
   */
  readonly answer: Schema<unknown>['json'] | undefined
  /** The object as a response would show it now; undefined for a new object, and where sent values are not compared with stored ones. */
  readonly stored: unknown
  /** Allows unknown keys that the stored object has with the same value, such as keys of an earlier release. */
  readonly allowsStoredKeys?: true
}

/** A body without the keys that only responses have. */
export interface KnownKeys {
  readonly value: unknown
  /** Whether the body repeated a response key whose value must equal the stored one. */
  readonly isComparable: boolean
}

/**
 * Checks the keys of a body against its schema, at every level whose keys are fixed (docs/contract/conventions.md#unknown-keys). Keys that
 * only responses have, and `warnings`, are removed from the value. Throws VALIDATION_ERROR that names an unknown key and the nearest known
 * one, or a response key whose value differs from the stored one.
 */
export function readKnownKeys(value: unknown, { body, answer, stored, allowsStoredKeys }: KeyRules, where = ''): KnownKeys {
  const state = { isComparable: false, keepsStoredKeys: allowsStoredKeys === true }
  const known = readLevel({ value, body, answer, stored, path: where }, state)
  return { value: known, isComparable: state.isComparable }
}

/** A value inside the body with its part of the schemas and of the stored object. */
interface Level {
  readonly value: unknown
  readonly body: unknown
  readonly answer: unknown
  readonly stored: unknown
  readonly path: string
}

interface CheckState {
  isComparable: boolean
  readonly keepsStoredKeys: boolean
}

function readLevel(level: Level, state: CheckState): unknown {
  const { value, path } = level
  if (Array.isArray(value)) return readItems(level, value, state)
  if (!isJsonObject(value)) return value
  const shapes = shapesOf(level.body, value)
  const properties = propertiesOf(shapes)
  const isFixed = shapes.length > 0 && shapes.every(({ properties }) => properties !== undefined)
  const answerProperties = propertiesOf(shapesOf(level.answer, value))
  const storedObject = isJsonObject(level.stored) ? level.stored : undefined
  const mapped = isFixed ? undefined : mapItem(shapes)
  // A map whose values have no schema, such as `values`, has no keys to check.
  if (!isFixed && mapped === undefined && Object.keys(properties).length === 0) return value
  const known: [string, unknown][] = []
  // Keys one by one, without a list of entries: the first unknown key ends the check.
  for (const key of Object.keys(value)) {
    const item = value[key]
    if (key in properties || !isFixed) {
      const child = { value: item, path: joinPath(path, key), answer: answerProperties[key], stored: storedObject?.[key] }
      known.push([key, readLevel({ ...child, body: key in properties ? properties[key] : mapped }, state)])
      continue
    }
    if (key === 'warnings') continue
    if (key in answerProperties) {
      if (changesByItself(key, answerProperties[key])) continue
      state.isComparable = true
      if (storedObject && !isSame(item, storedObject[key])) {
        throw problem('VALIDATION_ERROR', `${joinPath(path, key)} cannot be changed here`)
      }
    } else if (state.keepsStoredKeys && storedObject && Object.hasOwn(storedObject, key) && isSame(item, storedObject[key])) {
      known.push([key, item])
    } else throw unknownKeyProblem(joinPath(path, key), key, Object.keys(properties), nameOf(level))
  }
  return Object.fromEntries(known)
}

function readItems({ body, answer, stored, path }: Level, items: readonly unknown[], state: CheckState): unknown {
  const list = branchesOf(body).find(({ items }) => items !== undefined)
  const item = list?.items
  // A list that is too long is refused later, when the body is parsed, so its items are not checked here.
  if (item === undefined || items.length > ((list?.maxItems as number | undefined) ?? Number.POSITIVE_INFINITY)) return items
  const answerItem = branchesOf(answer).find(({ items }) => items !== undefined)?.items
  const storedItems = Array.isArray(stored) ? stored : undefined
  return items.map((value, index) => {
    if (typeof value !== 'object' || value === null) return value
    const counterpart = storedItems && counterpartOf(value, storedItems, index)
    return readLevel({ value, body: item, answer: answerItem, stored: counterpart, path: `${path}[${index}]` }, state)
  })
}

/** Keys that identify an item of a list. */
const identities = ['id', 'key', 'user_id', 'email'] as const

/** The stored item of a sent item, by its identity or else by its index; undefined for a new item. */
function counterpartOf(value: unknown, stored: readonly unknown[], index: number): unknown {
  if (!isJsonObject(value)) return undefined
  const key = identities.find((name) => typeof value[name] === 'string')
  return key === undefined ? stored[index] : stored.find((one) => isJsonObject(one) && one[key] === value[key])
}

/**
 * Whether a value changes without a write of the caller: counts, instants except `created_at`, and schemas marked `x-changes-by-itself`.
 */
function changesByItself(key: string, schema: unknown): boolean {
  const branches = branchesOf(schema).filter(({ type }) => type !== 'null')
  return branches.length > 0 && branches.every((one) => isCountOrInstant(key, one) || hasOnlyChangingParts(one))
}

const isCountOrInstant = (key: string, { type, format, 'x-changes-by-itself': marked }: Json): boolean =>
  marked === true || type === 'integer' || (format === 'date-time' && key !== 'created_at')

function hasOnlyChangingParts(schema: Json): boolean {
  const parts = Object.entries((schema.properties as Json | undefined) ?? mapOf(schema))
  return parts.length > 0 && parts.every(([key, part]) => changesByItself(key, part))
}

/**
 * Whether two values are equal as JSON: the order of keys does not matter, numbers are equal when they are written alike, and null equals
 * an absent key.
 */
function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one))
    return Array.isArray(other) && one.length === other.length && one.every((item, index) => isSame(item, other[index]))
  if (!isJsonObject(one)) return !Array.isArray(other) && !isJsonObject(other) && textOf(one) === textOf(other)
  if (!isJsonObject(other)) return false
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].every((key) => isSame(one[key], other[key]))
}

const textOf = (value: unknown): string => JSON.stringify(value ?? null)

/** The alternatives that an object may match: those whose constants it has, otherwise all. */
function shapesOf(schema: unknown, value: Json): Json[] {
  const shapes = branchesOf(schema).filter(({ type }) => type === undefined || type === 'object')
  const matching = shapes.filter(({ properties }) =>
    Object.entries((properties ?? {}) as Json).every(([key, part]) => {
      const { const: constant } = part as Json
      return constant === undefined || value[key] === constant
    }),
  )
  return matching.length > 0 ? matching : shapes
}

/** The properties of all shapes, without a prototype, so that a key such as `constructor` is not found in it. */
const propertiesOf = (shapes: readonly Json[]): Json => Object.assign(Object.create(null), ...shapes.map(({ properties }) => properties))

const mapItem = (shapes: readonly Json[]): unknown => shapes.flatMap((shape) => Object.values(mapOf(shape)))[0]

const joinPath = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`)

/** The name of an object for a message: its schema's title, or the last name of its path. */
function nameOf({ body, answer, path }: Level): string {
  const title = titleOf(body) ?? titleOf(answer)
  if (title !== undefined) return withArticle(title)
  const name = path
    .replace(/\[\d+\]/g, '')
    .split('.')
    .at(-1)
  return name ? name : 'this body'
}

/** The title of an object's schema in words: `QueueStageInput` is `queue stage`. */
function titleOf(schema: unknown): string | undefined {
  const title = branchesOf(schema).find((one) => typeof one.title === 'string' && one.type === 'object')?.title as string | undefined
  return title
    ?.replace(/(?:Input|Changes?|Replacement)$/, '')
    .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase()
}

/** Adds the article, except to a plural such as `queue settings`. */
const withArticle = (name: string): string => (name.endsWith('s') ? name : `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`)

/** Creates the problem of an unknown key: `uniqe is no key of a field; did you mean unique?`. */
export const unknownKeyProblem = (path: string, key: string, known: readonly string[], name: string) =>
  problem('VALIDATION_ERROR', `${truncate(path)} is no key of ${name}${suggestSpelling(key, known)}`)

/** Suggests a known name for an unknown one: `; did you mean unique?`. Adds all known names when none is similar. */
export function suggestSpelling(name: string, known: readonly string[]): string {
  const nearest = findNearestName(name, known)
  if (nearest === undefined) return ', which has none'
  const others = isSimilarName(name, nearest) || known.length === 1 ? '' : ` There are ${listNames(known)}`
  return `; did you mean ${nearest}?${others}`
}

const listNames = (known: readonly string[]): string =>
  known.length > 30 ? `${known.slice(0, 30).join(', ')} and others` : known.join(', ')

const truncate = (path: string): string => (path.length > 200 ? `${path.slice(0, 200)}…` : path)
