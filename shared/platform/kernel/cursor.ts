import { createEncryptor, type Encryptor } from '#shared/platform/kernel/crypto/encryption.ts'
import type { SecretKeys } from '#shared/platform/kernel/crypto/secret-keys.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import { highestId } from '#shared/platform/kernel/ids.ts'
import { type Schema, schema, t, uuid } from '#shared/platform/kernel/schema.ts'

/** The part of a scope that makes and reads cursors. */
export interface CursorScope {
  readonly config: SecretKeys
  /**
   * Returns what the cursors of this work are valid for: the route or SDK method, the workspace, and every parameter that chooses or orders
   * rows. The pipeline and the SDK set it, so no list names itself. Absent where nothing is listed for a caller.
   */
  readonly cursorBinding?: (() => unknown) | undefined
}

/**
 * Creates an opaque cursor that holds the position of the next page. It is encrypted, since a position may be a row that the caller cannot
 * see, and authenticated together with the scope's binding (docs/contract/conventions.md#cursors).
 */
export const makeCursor = (scope: CursorScope, position: object): string =>
  encryptorOf(scope).encrypt(JSON.stringify(position), bindingOf(scope)).toString('base64url')

/**
 * Returns the position in a cursor. Throws VALIDATION_ERROR for text that `makeCursor` did not create under the same binding, and for a
 * position of another shape, as an earlier release may have made.
 */
export function readCursor<Position>(scope: CursorScope, cursor: string, shape: Schema<Position>): Position {
  const binding = bindingOf(scope)
  const bytes = Buffer.from(cursor, 'base64url')
  // Decoding skips characters that do not belong to base64url.
  if (bytes.toString('base64url') !== cursor) throw cursorProblem()
  const text = decrypt(scope, bytes, binding)
  try {
    return shape.parse(JSON.parse(text))
  } catch (cause) {
    if (cause instanceof Problem) throw cursorProblem()
    throw cause
  }
}

function decrypt(scope: CursorScope, bytes: Buffer, binding: string): string {
  try {
    return encryptorOf(scope).decrypt(bytes, binding)
  } catch {
    throw cursorProblem()
  }
}

const idPosition = schema(t.Object({ id: uuid }))

/** Creates the cursor of a list ordered by id. */
export const makeIdCursor = (scope: CursorScope, id: string): string => makeCursor(scope, { id })

/**
 * Returns the id after which a page begins in a list ordered by id, highest first; without a cursor an id above all others. Throws like
 * `readCursor`.
 */
export const readIdCursor = (scope: CursorScope, cursor: string | undefined): string =>
  cursor === undefined ? highestId : readCursor(scope, cursor, idPosition).id

/** Parameters of a list that choose neither its rows nor their order. */
const freeParameters: ReadonlySet<string> = new Set(['limit', 'cursor', 'fields', 'expand'])

/** The parameters of a query that choose or order rows, by name, for a `cursorBinding`. */
export const rowParametersOf = (query: object): [string, unknown][] =>
  Object.entries(query)
    .filter(([name, value]) => value !== undefined && !freeParameters.has(name))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))

/** The failure of a cursor that is not one of the list. */
export const cursorProblem = () =>
  problem(
    'VALIDATION_ERROR',
    'cursor is damaged or belongs to another list: send that of the previous page as it came, with the same query',
  )

function bindingOf({ cursorBinding }: CursorScope): string {
  if (!cursorBinding) throw new Error('A list needs the cursorBinding of its route or SDK method to make cursors')
  return JSON.stringify(cursorBinding())
}

/** Encryptors by configuration: deriving a key takes longer than encrypting a cursor. */
const encryptors = new WeakMap<SecretKeys, Encryptor>()

function encryptorOf({ config }: CursorScope): Encryptor {
  const known = encryptors.get(config)
  if (known) return known
  const created = createEncryptor(config, 'cursors')
  encryptors.set(config, created)
  return created
}
