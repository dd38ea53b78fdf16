import { setTimeout } from 'node:timers/promises'
import test from 'ava'
import { eventually } from '#test/support/eventually.ts'
import { Sandbox } from '#workers/features/functions/sandbox/sandbox.ts'

const sandbox = new Sandbox({ size: 1, memoryMb: 128 })
test.after.always(() => sandbox.close())

const good: readonly string[] = [
  'function handler() {}',
  'async function handler(input) { return input }',
  'function* handler() {}',
  'const handler = () => 1',
  'let handler = async () => 1',
  'var a, handler = function () {}',
  'const handler = make(); function make() { return () => 1 }',
  'const { handler } = { handler() {} }',
  'const [a, { b: handler = () => 1 }, ...rest] = [1, {}]',
  'let handler; handler = () => 1',
  'handler = () => 1',
  'globalThis.handler = () => 1',
  'this.handler = () => 1',
  '#!/usr/bin/env kontor\nfunction handler() {}',
  "'use strict'; const handler = async () => { for await (const a of []) {} }",
  'class A { static #x = 1; get x() { return A.#x } }\nconst handler = () => new A()?.x ?? 1n ** 2n',
  'const handler = () => /(?<year>\\d{4})|(?i:b)/v',
  'function handler() { using x = null }',
  // Would throw, loop or print if it were run.
  "throw new Error('run'); function handler() {}",
  'for (;;) {} function handler() {}',
]
for (const source of good) {
  test(`source check: a function may be saved: ${source.slice(0, 70)}`, async (t) => t.is(await sandbox.checkSource(source), null))
}

const noHandler = { line: 1, column: 1, message: 'the source must define a function named handler at top level' }
const notFunction = 'handler must be a function'
const bad: readonly (readonly [source: string, problem: object])[] = [
  ['', noHandler],
  ['const other = () => 1', noHandler],
  ['// function handler() {}', noHandler],
  ["'function handler() {}'", noHandler],
  ['function outer() { function handler() {} }', noHandler],
  ['{ const handler = () => 1 }', noHandler],
  ['if (true) { function handler() {} }', noHandler],
  ['const box = { handler() {} }', noHandler],
  ['const box = {}; box.handler = () => 1', noHandler],
  ['(function handler() {})', noHandler],
  ['function Handler() {}', noHandler],
  ['const handler = 1', { line: 1, column: 17, message: notFunction }],
  ["const handler = 'text'", { line: 1, column: 17, message: notFunction }],
  ['\nvar handler = { run() {} }', { line: 2, column: 15, message: notFunction }],
  ['class handler {}', { line: 1, column: 1, message: notFunction }],
  ['globalThis.handler = [1]', { line: 1, column: 22, message: notFunction }],
  ['function handler( {', { line: 1, column: 20, message: 'Unexpected end of input' }],
  ['let a\n  let a\nfunction handler() {}', { line: 2, column: 7, message: "Identifier 'a' has already been declared" }],
  ['export function handler() {}', { line: 1, column: 1, message: "Unexpected token 'export'" }],
  ["import fs from 'fs'\nfunction handler() {}", { line: 1, column: 1, message: 'Cannot use import statement outside a module' }],
  [
    'function handler() { await 1 }',
    { line: 1, column: 22, message: 'await is only valid in async functions and the top level bodies of modules' },
  ],
  ['return 1', { line: 1, column: 1, message: 'Illegal return statement' }],
]
for (const [source, problem] of bad) {
  test(`source check: a function may not be saved: ${source.slice(0, 70) || 'nothing'}`, async (t) =>
    t.deepEqual(await sandbox.checkSource(source), problem))
}

test('source check: a source that is nested too deep for the parser still needs a handler', async (t) => {
  const deep = `const deep = ${'['.repeat(2_000)}${']'.repeat(2_000)}`
  t.deepEqual(await sandbox.checkSource(deep), noHandler)
  for (const handler of ['function handler() {}', 'const handler = () => 1', 'var handler', 'let handler']) {
    t.is(await sandbox.checkSource(`${deep}\n${handler}`), null, handler)
    t.is(await sandbox.checkSource(`${handler}\n${deep}`), null, handler)
  }
})

test('source check: a source of 256 KB is checked, a longer one is refused for its length', async (t) => {
  const source = `function handler() {}//${'é'.repeat((256 * 1024 - 23) / 2)}`
  const bytes = Buffer.byteLength(source)
  const padded = source + 'x'.repeat(256 * 1024 - bytes)
  t.is(await sandbox.checkSource(padded), null)
  t.deepEqual(await sandbox.checkSource(`${padded}x`), { line: 1, column: 1, message: 'the source must have at most 256 KB' })
})

test('source check: sources that are expensive to parse get an answer, and the next check works', async (t) => {
  const most = 256 * 1024
  const bombs = [
    '('.repeat(most),
    `${'['.repeat(most / 2)}${']'.repeat(most / 2)}`,
    `/${'('.repeat(most - 2)}/`,
    `/(?<a>x)${'|(?<a>x)'.repeat(most / 8 - 2)}/`,
    'a=>'.repeat(most / 3),
    'async('.repeat(most / 6),
    '{var a;'.repeat(most / 7),
    '`${'.repeat(most / 3),
    'a?'.repeat(most / 2 - 1),
    `class A{${Array.from({ length: 20_000 }, (_, n) => `#a${n};`).join('')}}`,
  ]
  for (const bomb of bombs) {
    const problem = await sandbox.checkSource(bomb)
    t.truthy(problem, bomb.slice(0, 20))
    t.true((problem?.message.length ?? 0) <= 500)
    t.is(await sandbox.checkSource('function handler() {}'), null)
  }
})

test('source check: expensive sources are checked concurrently, and two of them do not delay a third check', async (t) => {
  const hard = `/(?<a>x)${'|(?<a>x)'.repeat(30_000)}/`
  const own = new Sandbox({ size: 1, memoryMb: 128 })
  t.teardown(() => own.close())
  const checks = Promise.all(Array.from({ length: 4 }, () => own.checkSource(hard)))
  await eventually(() => own.pids.length >= 3)
  for (const problem of await checks) t.regex(problem?.message ?? '', /too long or too much memory/)
})

test('source check: a check whose runner is lost is repeated', async (t) => {
  const own = new Sandbox({ size: 1, memoryMb: 128 })
  t.teardown(() => own.close())
  t.is(await own.checkSource('function handler() {}'), null)
  const [pid] = own.pids
  // Stopped once it is ready again, so that it receives the order and does not execute it. Nothing outside the pool shows this state; a runner
  // that is late is lost before its order, with the same outcome.
  await setTimeout(200)
  process.kill(pid as number, 'SIGSTOP')
  const check = own.checkSource('function handler() { return 1 }')
  process.kill(pid as number, 'SIGKILL')
  t.is(await check, null)
  t.not(own.pids[0], pid)
})

test('source check: a check does not wait for runs', async (t) => {
  const stop = new AbortController()
  const source = 'function handler() { for (;;) {} }'
  const run = sandbox.run({
    owner: 'test',
    source,
    inputText: 'null',
    timeoutMs: 600_000,
    sdkMethods: [],
    call: async () => null,
    signal: stop.signal,
  })
  t.is(await sandbox.checkSource(source), null)
  stop.abort()
  t.is((await run).ending, 'interrupted')
})
