import test from 'ava'
import { openSandbox, requestFor, resultOf, runBody } from '#test/features/functions/sandbox/open-sandbox.ts'
import { Sandbox } from '#workers/features/functions/sandbox/sandbox.ts'

const shared = new Sandbox({ size: 2, memoryMb: 128 })
test.after.always(() => shared.close())

const returns: Readonly<Record<string, readonly [source: string, input: unknown, result: unknown]>> = {
  'a function declaration': ['function handler(input) { return input.a + 1 }', { a: 1 }, 2],
  'an async function': ['async function handler(input) { return [input] }', 'x', ['x']],
  'an arrow bound by const': ['const handler = ({ a }) => a', { a: 'b' }, 'b'],
  'a global made by assignment': ['globalThis.handler = () => 1', null, 1],
  'top-level bindings that the handler uses': ['let count = 1; const add = () => ++count\nfunction handler() { return add() }', null, 2],
  'a source that ends with a comment': ['function handler() { return 1 } // the end', null, 1],
  'strict mode': ["'use strict'\nfunction handler() { return this === undefined }", null, true],
  'nothing, which is null': ['function handler() {}', null, null],
  'an absent input, which is null': ['function handler(input) { return input === null }', undefined, true],
  'a thenable': ['function handler() { return { then(done) { done({ ok: true }) } } }', null, { ok: true }],
  'a proxy': ['function handler() { return new Proxy({ a: 1 }, {}) }', null, { a: 1 }],
  'a date by its toJSON': ['function handler() { return new Date(0) }', null, '1970-01-01T00:00:00.000Z'],
  'local time, which is UTC': ['function handler() { return [new Date(0).getHours(), new Date().getTimezoneOffset()] }', null, [0, 0]],
  'text that looks like escapes and brackets': [
    'function handler(input) { return input }',
    ['\\u0000', '\\\\ud800', '"[{', '\\"'.repeat(100), '['.repeat(100), '😀'],
    ['\\u0000', '\\\\ud800', '"[{', '\\"'.repeat(100), '['.repeat(100), '😀'],
  ],
  'as much nesting as a request': [
    'function handler() { let a = 1; for (let i = 0; i < 64; i++) a = [a]; return a }',
    null,
    JSON.parse(`${'['.repeat(64)}1${']'.repeat(64)}`),
  ],
  'a key named __proto__': [
    'function handler(input) { return input }',
    JSON.parse('{"__proto__":{"a":1}}'),
    JSON.parse('{"__proto__":{"a":1}}'),
  ],
}

for (const [name, [source, input, result]] of Object.entries(returns)) {
  test(`run: a handler may be or return ${name}`, async (t) => {
    const outcome = await shared.run(requestFor(source, { input }))
    t.like(outcome, { ending: 'returned', error: null, logs: [], steps: [] })
    t.deepEqual(JSON.parse(outcome.resultText), result)
  })
}

const throws: Readonly<Record<string, readonly [source: string, error: string]>> = {
  'an error': ["function handler() { throw new Error('boom') }", 'boom'],
  'an error without a message': ['function handler() { throw new TypeError() }', 'TypeError'],
  text: ["async function handler() { throw 'plain' }", 'plain'],
  'an object that has a name': ["function handler() { throw { name: 'Bob', id: 1 } }", '{"name":"Bob","id":1}'],
  'an object': ['function handler() { throw { a: 1 } }', '{"a":1}'],
  null: ['function handler() { throw null }', 'null'],
  'no text at all': ["function handler() { throw '' }", 'the function threw something that has no message'],
  'an error whose message is a number': ['function handler() { const e = new Error(); e.message = 42; throw e }', '42'],
  'an error whose message is an object': [
    "function handler() { const e = new Error('x'); e.message = {}; throw e }",
    'Error: x\n    at handler (function.js:1:32)',
  ],
  'what cannot be read': [
    'function handler() { throw { get message() { throw 1 }, get stack() { throw 2 } } }',
    'the function threw something that has no message',
  ],
  'before there is a handler': ["throw new Error('early'); function handler() {}", 'early'],
  'no handler at all': ['const other = 1', 'the source defines no function named handler'],
  'a handler that is no function': ['const handler = 1', 'the source defines no function named handler'],
  'a source that does not parse': ['function handler( {', "Unexpected token ';'"],
  'an error in a timer': ["async function handler() { await new Promise(() => setTimeout(() => { throw new Error('late') }, 1)) }", 'late'],
  'a BigInt': ['function handler() { return 1n }', 'the result cannot be written as JSON: Do not know how to serialize a BigInt'],
  'a function': ['function handler() { return handler }', 'the result cannot be written as JSON: it is a function'],
  'a symbol': ['function handler() { return Symbol() }', 'the result cannot be written as JSON: it is a symbol'],
  'a toJSON that throws': [
    "function handler() { return { toJSON() { throw new Error('no') } } }",
    'the result cannot be written as JSON: no',
  ],
  'a lone surrogate': ["function handler() { return { a: ['\\ud83d'] } }", 'the result holds a NUL character or a lone surrogate'],
  'a NUL character in a key': ['function handler() { return { "a\\0": 1 } }', 'the result holds a NUL character or a lone surrogate'],
  'a result that is nested too deep': [
    'function handler() { let a = 1; for (let i = 0; i < 65; i++) a = [a]; return a }',
    'the result is nested deeper than 64 levels',
  ],
}

for (const [name, [source, error]] of Object.entries(throws)) {
  test(`run: a run ends with an error: ${name}`, async (t) => {
    const outcome = await shared.run(requestFor(source))
    t.like(outcome, { ending: 'threw', resultText: 'null', error })
  })
}

test('run: a result with a cycle is an error that says so', async (t) => {
  const { error } = await runBody(shared, 'const a = {}; a.a = a; return a')
  t.regex(error ?? '', /^the result cannot be written as JSON: Converting circular structure to JSON/)
})

test('run: a run that never ends is timed out by the worker’s clock', async (t) => {
  const sandbox = openSandbox(t)
  const [runner] = await resultOf(t, sandbox, 'return 1').then(() => sandbox.pids)
  const outcome = await runBody(sandbox, "console.log('before'); await new Promise(() => {})", { timeoutMs: 1_000 })
  t.like(outcome, { ending: 'timed_out', resultText: 'null', error: 'timed out', logs: [{ level: 'log', msg: 'before' }] })
  t.true(outcome.durationMs >= 999, `${outcome.durationMs}`)
  t.is(await resultOf(t, sandbox, 'return 1'), 1)
  t.false(sandbox.pids.includes(runner as number), 'the runner was replaced')
})

test('run: waiting for a runner is not counted as time of the run', async (t) => {
  const sandbox = openSandbox(t)
  // The wait for the only runner is longer than the time of the second run.
  const slow = runBody(sandbox, 'await new Promise((done) => setTimeout(done, 5_000)); return 1')
  t.like(await runBody(sandbox, 'return 2', { timeoutMs: 4_000 }), { resultText: '2' })
  t.is((await slow).resultText, '1')
})

test('run: console output is stored by level, with its values as text', async (t) => {
  const { logs } = await runBody(
    shared,
    `console.log('a', 1, null, undefined, true, 2n, Symbol('s'), { a: [1] }, () => 1); console.info(); console.warn('w'); console.error('e')
     console.debug('d'); console.log('NUL \\0 and half \\ud83d')`,
  )
  t.deepEqual(logs, [
    { level: 'log', msg: 'a 1 null undefined true 2 Symbol(s) {"a":[1]} [function]' },
    { level: 'info', msg: '' },
    { level: 'warn', msg: 'w' },
    { level: 'error', msg: 'e' },
    { level: 'log', msg: 'd' },
    { level: 'log', msg: 'NUL \ufffd and half \ufffd' },
  ])
})

test('run: a logged error shows its origin, and none of Kontor’s code', async (t) => {
  const { logs } = await runBody(shared, "\nconsole.log(new Error('x'))")
  t.deepEqual(logs, [{ level: 'log', msg: 'Error: x\n    at handler (function.js:2:13)' }])
})

test('run: timers expire in their order, pass values and can be cleared', async (t) => {
  const body = `const seen = []
    setTimeout((value) => seen.push(value), 30, 'second')
    setTimeout((value) => seen.push(value), 1, 'first')
    clearTimeout(setTimeout(() => seen.push('never'), 5)); clearTimeout(); clearTimeout(77)
    await new Promise((done) => setTimeout(done, 60))
    return seen`
  t.deepEqual(await resultOf(t, shared, body), ['first', 'second'])
})

test('run: a timer or a loop that a run leaves behind does not affect the next run', async (t) => {
  const sandbox = openSandbox(t)
  await resultOf(t, sandbox, "setTimeout(() => { for (;;) {} }, 1); setTimeout(() => console.log('late'), 1); return 1")
  await resultOf(t, sandbox, '(function f() { Promise.resolve().then(f) })(); return 1')
  // Timers expire in order: one of the first run would precede the one of this run.
  t.like(await runBody(sandbox, 'await new Promise((done) => setTimeout(done, 20)); return typeof late'), {
    resultText: '"undefined"',
    logs: [],
  })
})

test('run: runs beyond the size of the sandbox wait, and all end', async (t) => {
  const sandbox = openSandbox(t, 2)
  const results = await Promise.all(Array.from({ length: 20 }, (_, input) => resultOf(t, sandbox, 'return input * 2', { input })))
  t.deepEqual(
    results,
    Array.from({ length: 20 }, (_, input) => input * 2),
  )
  t.is(sandbox.pids.length, 2)
})
