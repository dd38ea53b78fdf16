import { problem } from '#shared/platform/kernel/errors.ts'
import type { Schema } from '#shared/platform/kernel/schema.ts'
import { findNearestName, isSimilarName } from '#shared/platform/kernel/similar-names.ts'

type Json = Readonly<Record<string, unknown>>

/** Schemas and stored object that a body's keys are checked against. */
export interface KeyRules {
  /** The schema of the body. */
  readonly body: Schema<unknown>['json']
  /** The schema in which the object is answered: its keys may be sent back. Undefined where nothing is read before it is sent. */
  readonly answer: Schema<unknown>['json'] | undefined
  /** The object as it is answered now; undefined where there is none yet, or nothing is compared with it. */
  readonly stored: unknown
  /** Allows unknown keys that the stored object carries with the same value, as a definition of an earlier release may. */
  readonly allowsStoredKeys?: true
}

/** A body without the answer's keys that the caller sent back. */
export interface KnownKeys {
  readonly value: unknown
  /** Whether a key was sent back that must equal the stored one. */
  readonly isComparable: boolean
}

/**
 * Checks the keys of a body against its schema, at every level whose keys are fixed (page 5, Unknown keys). Keys of the answer that the
 * body's schema does not have are left out of the value, as are `warnings`. Throws VALIDATION_ERROR that names an unknown key and the
 * nearest known one, or a key of the answer whose value differs from the stored one.
 */
export function readKnownKeys(value: unknown, { body, answer, stored, allowsStoredKeys }: KeyRules, where = ''): KnownKeys {
  const found = { isComparable: false }
  const known = readLevel({ value, body, answer, stored, path: where }, { found, keepsStored: allowsStoredKeys === true })
  return { value: known, isComparable: found.isComparable }
}

interface Level {
  readonly value: unknown
  readonly body: unknown
  readonly answer: unknown
  readonly stored: unknown
  readonly path: string
}

interface Reading {
  readonly found: { isComparable: boolean }
  readonly keepsStored: boolean
}

function readLevel(level: Level, reading: Reading): unknown {
  const { value, path } = level
  if (Array.isArray(value)) return readItems(level, value, reading)
  if (!isObject(value)) return value
  const shapes = shapesOf(level.body, value)
  const properties = Object.assign(Object.create(null), ...shapes.map(({ properties }) => properties)) as Json
  const isFixed = shapes.length > 0 && shapes.every(({ properties }) => properties !== undefined)
  const answered = answeredProperties(level.answer, value)
  const storedObject = isObject(level.stored) ? level.stored : undefined
  const entries = Object.entries(value).flatMap(([key, item]): (readonly [string, unknown])[] => {
    const at = joined(path, key)
    const below = { value: item, path: at, answer: answered[key], stored: storedObject?.[key] }
    if (key in properties) return [[key, readLevel({ ...below, body: properties[key] }, reading)]]
    if (!isFixed) return [[key, readLevel({ ...below, body: mapItem(shapes) }, reading)]]
    if (key === 'warnings') return []
    if (key in answered) {
      if (!changesByItself(key, answered[key])) requireStored(below, storedObject, key, reading)
      return []
    }
    if (reading.keepsStored && storedObject && Object.hasOwn(storedObject, key) && isSame(item, storedObject[key])) return [[key, item]]
    throw unknownKeyProblem(at, key, Object.keys(properties), nameOf(level))
  })
  return Object.fromEntries(entries)
}

function readItems({ body, answer, stored, path }: Level, items: readonly unknown[], reading: Reading): unknown {
  const list = branchesOf(body).find(({ items }) => items !== undefined)
  const item = list?.items
  // A list that is too long is refused as such when the body is parsed; its items are not gone through before.
  if (item === undefined || items.length > ((list?.maxItems as number | undefined) ?? Number.POSITIVE_INFINITY)) return items
  const answered = branchesOf(answer).find(({ items }) => items !== undefined)?.items
  const storedItems = Array.isArray(stored) ? stored : undefined
  return items.map((value, index) =>
    readLevel(
      {
        value,
        body: item,
        answer: answered,
        stored: storedItems && counterpartOf(value, storedItems, index),
        path: `${path}[${index}]`,
      },
      reading,
    ),
  )
}

/** Keys by which an item of a list is the same as a stored one. */
const identities = ['id', 'key', 'user_id', 'email'] as const

/** The stored item that a sent item refers to; undefined for a new item. */
function counterpartOf(value: unknown, stored: readonly unknown[], index: number): unknown {
  if (!isObject(value)) return undefined
  const key = identities.find((name) => typeof value[name] === 'string')
  return key === undefined ? stored[index] : stored.find((one) => isObject(one) && one[key] === value[key])
}

function requireStored({ value, path }: { value: unknown; path: string }, stored: Json | undefined, key: string, { found }: Reading): void {
  found.isComparable = true
  if (stored === undefined) return
  if (!isSame(value, stored[key])) throw problem('VALIDATION_ERROR', `${path} cannot be changed here`)
}

/** Whether a value changes by itself: counts, instants but `created_at`, and schemas marked `x-changes-by-itself`. */
function changesByItself(key: string, schema: unknown): boolean {
  const branches = branchesOf(schema).filter(({ type }) => type !== 'null')
  return branches.length > 0 && branches.every((one) => isCountOrInstant(key, one) || holdsOnlyThose(one))
}

const isCountOrInstant = (key: string, { type, format, 'x-changes-by-itself': marked }: Json): boolean =>
  marked === true || type === 'integer' || (format === 'date-time' && key !== 'created_at')

function holdsOnlyThose(schema: Json): boolean {
  const parts = Object.entries((schema.properties as Json | undefined) ?? mapOf(schema))
  return parts.length > 0 && parts.every(([key, part]) => changesByItself(key, part))
}

/** Equal as JSON: the order of keys does not count, numbers count by their digits, and null is the same as a key that is left out. */
function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one))
    return Array.isArray(other) && one.length === other.length && one.every((item, index) => isSame(item, other[index]))
  if (!isObject(one)) return !Array.isArray(other) && !isObject(other) && textOf(one) === textOf(other)
  if (!isObject(other)) return false
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].every((key) => isSame(one[key], other[key]))
}

const textOf = (value: unknown): string => JSON.stringify(value ?? null)

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value) && !(value instanceof Date)

/** The alternatives of a schema; of one that joins several, all of these. */
function branchesOf(schema: unknown): Json[] {
  if (!isObject(schema)) return []
  const { anyOf, oneOf, allOf } = schema as { anyOf?: unknown[]; oneOf?: unknown[]; allOf?: unknown[] }
  const parts = anyOf ?? oneOf ?? allOf
  return parts ? parts.flatMap(branchesOf) : [schema]
}

/** The alternatives of a schema that an object may be: those whose constants it holds, or all where it holds none of any. */
function shapesOf(schema: unknown, value: Json): Json[] {
  const shapes = branchesOf(schema).filter(({ type }) => type === undefined || type === 'object')
  const fitting = shapes.filter(({ properties }) =>
    Object.entries((properties ?? {}) as Json).every(([key, part]) => {
      const { const: constant } = part as Json
      return constant === undefined || value[key] === constant
    }),
  )
  return fitting.length > 0 ? fitting : shapes
}

const answeredProperties = (schema: unknown, value: Json): Json =>
  Object.assign(Object.create(null), ...(schema === undefined ? [] : shapesOf(schema, value).map(({ properties }) => properties)))

/** Schemas of a map's values, by key pattern. */
const mapOf = ({ patternProperties, additionalProperties }: Json): Json =>
  isObject(patternProperties) ? patternProperties : isObject(additionalProperties) ? { '': additionalProperties } : {}

const mapItem = (shapes: readonly Json[]): unknown => shapes.flatMap((shape) => Object.values(mapOf(shape)))[0]

const joined = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`)

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

/** `QueueStageInput` is a queue stage. */
function titleOf(schema: unknown): string | undefined {
  const title = branchesOf(schema).find((one) => typeof one.title === 'string' && one.type === 'object')?.title as string | undefined
  return title
    ?.replace(/(?:Input|Changes?|Replacement)$/, '')
    .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase()
}

/** A name of several things, such as queue settings, has no article. */
const withArticle = (name: string): string => (name.endsWith('s') ? name : `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`)

/** The refusal of a key that an object does not have: `uniqe is no key of a field; did you mean unique?`. */
export const unknownKeyProblem = (path: string, key: string, known: readonly string[], name: string) =>
  problem('VALIDATION_ERROR', `${shortened(path)} is no key of ${name}${suggestSpelling(key, known)}`)

/** Suggests a spelling for an unknown name: `; did you mean unique?`, with all known names where none is like it. */
export function suggestSpelling(name: string, known: readonly string[]): string {
  const nearest = findNearestName(name, known)
  if (nearest === undefined) return ', which has none'
  const others = isSimilarName(name, nearest) || known.length === 1 ? '' : ` There are ${shown(known)}`
  return `; did you mean ${nearest}?${others}`
}

const shown = (known: readonly string[]): string => (known.length > 30 ? `${known.slice(0, 30).join(', ')} and others` : known.join(', '))

const shortened = (path: string): string => (path.length > 200 ? `${path.slice(0, 200)}…` : path)
