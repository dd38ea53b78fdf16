import test from 'ava'
import { evaluationOrder } from '#shared/platform/formula/evaluation-order.ts'

const order = (reads: Record<string, string[]>): readonly string[] => evaluationOrder(new Map(Object.entries(reads)))

test('order: each computed field comes after those that it reads', (t) => {
  t.deepEqual(order({ gross: ['net', 'tax'], tax: ['net', 'rate'], net: ['qty', 'price'] }), ['net', 'tax', 'gross'])
  t.deepEqual(order({ b: [], a: [], c: ['a'] }), ['b', 'a', 'c'])
  t.deepEqual(order({}), [])
})

test('order: a cycle is refused and named without the fields that only lead to it', (t) => {
  t.throws(() => order({ a: ['b'], b: ['a'] }), { message: 'formula: circle a → b → a', code: 'VALIDATION_ERROR' })
  t.throws(() => order({ x: ['a'], a: ['b'], b: ['c'], c: ['a'] }), { message: 'formula: circle a → b → c → a' })
  t.throws(() => order({ a: ['a'] }), { message: 'formula: circle a → a' })
})

test('order: a long chain of computed fields is ordered without recursion', (t) => {
  const keys = Array.from({ length: 50_000 }, (_, index) => `f${index}`)
  const ordered = evaluationOrder(new Map(keys.map((key, index) => [key, [keys[index + 1] ?? 'base']])))
  t.is(ordered[0], 'f49999')
  t.is(ordered.at(-1), 'f0')
})

test('order: a diamond visits each field once', (t) => {
  const layers = Array.from({ length: 40 }, (_, index) => [`l${index}`, [`l${index + 1}`, `r${index + 1}`]] as const)
  const mirrored = layers.map(([key, reads]) => [key.replace('l', 'r'), reads] as const)
  t.is(evaluationOrder(new Map([...layers, ...mirrored])).length, 80)
})
