import test from 'ava'
import { readKnownKeys } from '#shared/platform/kernel/known-keys.ts'
import { t as type } from '#shared/platform/kernel/schema.ts'

test('known keys: the first unknown key ends the check', (t) => {
  const body = { unknown: 1 }
  Object.defineProperty(body, 'later', { enumerable: true, get: () => t.fail('read although the body is refused') })
  const rules = { body: type.Object({ name: type.String() }), answer: undefined, stored: undefined }
  t.throws(() => readKnownKeys(body, rules), { message: /^unknown is no key of this body/ })
})

test('known keys: a map of any values is returned as it is', (t) => {
  const values = { __proto__: null, a: { b: [{ c: 1 }] } }
  const body = type.Object({ values: type.Record(type.String(), type.Unknown()) })
  const { value } = readKnownKeys({ values }, { body, answer: undefined, stored: undefined })
  t.deepEqual(Object.entries((value as { values: object }).values), Object.entries(values))
})
