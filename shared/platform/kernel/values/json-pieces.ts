/** Lists of more items than this are written item by item; an item that holds no such list is one piece. */
const fewItems = 16

/**
 * Writes a value as `JSON.stringify` does, in pieces: the items of long lists one by one, wherever they stand in objects and lists. So the
 * writer of a large answer can pause between two of them.
 */
export function* jsonPieces(value: unknown): Generator<string> {
  if (Array.isArray(value) && value.length > 0) yield* listPieces(value)
  else if (holdsLongList(value)) yield* objectPieces(value)
  else yield JSON.stringify(value) ?? 'null'
}

function* listPieces(list: readonly unknown[]): Generator<string> {
  let separator = '['
  for (const item of list) {
    yield separator
    yield* jsonPieces(item)
    separator = ','
  }
  yield ']'
}

function* objectPieces(object: Readonly<Record<string, unknown>>): Generator<string> {
  let separator = '{'
  for (const [key, value] of Object.entries(object)) {
    if (isLeftOut(value)) continue
    yield `${separator}${JSON.stringify(key)}:`
    yield* jsonPieces(value)
    separator = ','
  }
  yield separator === '{' ? '{}' : '}'
}

/** Whether `JSON.stringify` leaves a property out. */
const isLeftOut = (value: unknown): boolean => value === undefined || typeof value === 'function' || typeof value === 'symbol'

/** Whether an object has a long list among its values, or in their objects and lists. Objects that write themselves (`toJSON`) are not looked into. */
function holdsLongList(value: unknown, depth = 4): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || depth === 0 || 'toJSON' in value || JSON.isRawJSON(value)) return false
  return Object.values(value).some((each) => (Array.isArray(each) && each.length > fewItems) || holdsLongList(each, depth - 1))
}

/**
 * Whether a value takes more than this many characters as JSON, estimated from below: escapes and digits are not counted. It stops as soon as
 * it knows, and takes a fifth of the time of writing the JSON.
 */
export const exceedsJsonBytes = (value: unknown, bytes: number): boolean => countDown(value, bytes) < 0

/** What is left of `left` characters after the value's; negative once there are none. */
function countDown(value: unknown, left: number): number {
  if (typeof value === 'string') return left - value.length - 2
  if (typeof value !== 'object' || value === null) return left - 1
  // Two brackets, and a comma less than there are items.
  let remaining = left - 1
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && remaining >= 0; index++) remaining = countDown(value[index], remaining - 1)
    return remaining
  }
  for (const key in value) {
    remaining = countDown((value as Record<string, unknown>)[key], remaining - key.length - 4)
    if (remaining < 0) break
  }
  return remaining
}
