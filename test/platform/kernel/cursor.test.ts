import { randomBytes } from 'node:crypto'
import test from 'ava'
import { makeCursor, readCursor, readIdCursor } from '#shared/platform/kernel/cursor.ts'
import { schema, t as type } from '#shared/platform/kernel/schema.ts'

const secretKey = randomBytes(32)
const scopeFor = (list: unknown, key = secretKey) => ({ config: { secretKey: key, otherSecretKey: null }, cursorBinding: () => list })
const shape = schema(type.Object({ key: type.String() }))
const refused = { code: 'VALIDATION_ERROR', message: /^cursor / }

test('cursor: it is read under the key and binding that made it, also by another process', (t) => {
  const cursor = makeCursor(scopeFor(['a', 1]), { key: 'x' })
  t.deepEqual(readCursor(scopeFor(['a', 1], Buffer.from(secretKey)), cursor, shape), { key: 'x' })
  t.throws(() => readCursor(scopeFor(['a', 2]), cursor, shape), refused)
  t.throws(() => readCursor(scopeFor(['a', 1], randomBytes(32)), cursor, shape), refused)
  const rotated = { config: { secretKey: randomBytes(32), otherSecretKey: secretKey }, cursorBinding: () => ['a', 1] }
  t.deepEqual(readCursor(rotated, cursor, shape), { key: 'x' })
})

test('cursor: it does not show its position', (t) => {
  const cursor = makeCursor(scopeFor('list'), { key: 'hidden value' })
  t.false(Buffer.from(cursor, 'base64url').includes('hidden'))
})

test('cursor: a position of another shape is refused', (t) => {
  const scope = scopeFor('list')
  for (const position of [{}, { key: 1 }, [], { id: 'x' }]) t.throws(() => readCursor(scope, makeCursor(scope, position), shape), refused)
  t.throws(() => readIdCursor(scope, makeCursor(scope, { id: 'x' })), refused)
})

test('cursor: a part of one is refused, also with a part of its tag', (t) => {
  const scope = scopeFor('list')
  const bytes = Buffer.from(makeCursor(scope, { key: 'x' }), 'base64url')
  for (let length = 0; length < bytes.length; length++)
    t.throws(() => readCursor(scope, bytes.subarray(0, length).toString('base64url'), shape), refused, String(length))
})

test('cursor: work without a binding makes none', (t) => {
  t.throws(() => makeCursor({ config: { secretKey, otherSecretKey: null } }, { key: 'x' }), { message: /cursorBinding/ })
})
