import test from 'ava'
import { openSandbox, requestFor, resultOf } from '#test/features/functions/sandbox/open-sandbox.ts'

/** Each line spoils something that our own code in the isolate might lean on. */
const spoils = [
  'Object.prototype.polluted = 1',
  "JSON.stringify = () => 'spoilt'; JSON.parse = () => 'spoilt'",
  'Promise.prototype.then = function () { return this }',
  'Object.defineProperty(Promise, Symbol.species, { get() { throw 1 } }); Promise.prototype.catch = Promise.prototype.finally = undefined',
  'Promise = class {}; Error = class {}; String = () => 1; Object = {}; Reflect = {}; eval = () => 1',
  'Array.prototype.push = Array.prototype.map = Array.prototype.join = () => { throw 1 }',
  'Array.prototype[Symbol.iterator] = function* () {}',
  'String.prototype.slice = String.prototype.split = () => { throw 1 }',
  'Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw 1 }',
  "for (const key of ['code', 'value', 'get', 'set', 'next', 'id', 'text', 'message']) Object.defineProperty(Object.prototype, key, { __proto__: null, set() { throw 1 }, get() { throw 2 }, configurable: true })",
  "for (const key of [0, 1, 2, 'length']) Object.defineProperty(Object.prototype, key, { __proto__: null, set() { throw 1 }, configurable: true })",
  "Array.prototype.toJSON = () => 'spoilt'",
  'Object.prototype.toJSON = undefined; Object.prototype.then = undefined; Object.setPrototypeOf(Array.prototype, null)',
  'Error.prepareStackTrace = () => { throw 1 }; Error.stackTraceLimit = -1; Object.defineProperty(Error, Symbol.hasInstance, { value() { throw 1 } })',
  'globalThis.handler = undefined; delete globalThis.console; delete globalThis.sdk',
]

const honest = `
  const printed = console
  const tools = sdk
  const wait = setTimeout
  async function handler(input) {
    SPOIL
    printed.log('line', { a: 1 })
    const answer = await tools.records.list({ a: input.a })
    await new ((async () => {})().constructor)((done) => wait(done, 1))
    return { answer: answer[0].a, input: input.a }
  }`

for (const [index, spoil] of spoils.entries()) {
  test(`pollution: a function that changes its own built-ins affects no other run (${index + 1}: ${spoil.slice(0, 60)})`, async (t) => {
    const sandbox = openSandbox(t)
    const outcome = await sandbox.run(
      requestFor(
        honest.replace('SPOIL', () => spoil),
        { input: { a: 5 }, timeoutMs: 5_000 },
      ),
    )
    t.deepEqual([outcome.error, outcome.resultText], [null, '{"answer":5,"input":5}'])
    t.deepEqual(outcome.logs, [{ level: 'log', msg: 'line {"a":1}' }])
    t.deepEqual(outcome.steps, [{ method: 'records.list', is_error: false }])
    t.is(({} as { polluted?: unknown }).polluted, undefined)
    t.is(JSON.stringify({ a: 1 }), '{"a":1}')
    t.is(await Promise.resolve(2).then((two) => two * 2), 4)
    const clean =
      'return [typeof ({}).polluted, JSON.stringify({ a: 1 }), await Promise.resolve(1).then((one) => one + 1), [1].map(String), typeof sdk]'
    t.deepEqual(await resultOf(t, sandbox, clean), ['undefined', '{"a":1}', 2, ['1'], 'object'])
  })
}

test('pollution: a function that breaks its own promises still ends', async (t) => {
  const source = `function handler() {
    Object.defineProperty(Promise.prototype, 'constructor', { get() { throw new Error('spoilt') } })
    sdk.records.list()
    return 1
  }`
  t.like(await openSandbox(t).run(requestFor(source)), { error: null, resultText: '1', steps: [{ is_error: false }] })
})
