import { runInNewContext } from 'node:vm'
import test from 'ava'
import { openSandbox, resultOf, runBody } from '#test/features/functions/sandbox/open-sandbox.ts'

test('escape: the globals are those of the language without three, four of Kontor’s and the handler', async (t) => {
  const language: string[] = runInNewContext('Object.getOwnPropertyNames(globalThis)')
  const taken = ['WebAssembly', 'SharedArrayBuffer', 'Atomics']
  const names = (await resultOf(t, openSandbox(t), 'return Object.getOwnPropertyNames(globalThis)')) as string[]
  const expected = [...language.filter((name) => !taken.includes(name)), 'clearTimeout', 'console', 'handler', 'sdk', 'setTimeout']
  t.deepEqual([...names].sort(), [...new Set(expected)].sort())
})

// Every one of these must come out as undefined, wherever the name is looked for.
const absent = ['process', 'require', 'module', 'exports', 'global', 'Buffer', 'fetch', 'XMLHttpRequest', 'WebSocket', 'Worker', 'setInterval',
  'setImmediate', 'queueMicrotask', 'structuredClone', 'WebAssembly', 'SharedArrayBuffer', 'Atomics', 'ivm', '$0', 'guest', 'post', '__dirname'] // biome-ignore format: a list of names
const places = [
  'typeof NAME',
  "typeof globalThis['NAME']",
  "(0, eval)('typeof NAME')",
  "Function('return typeof NAME')()",
  "(function () {}).constructor('return typeof NAME')()",
  "sdk.records.list.constructor('return typeof NAME')()",
  "console.log.constructor('return typeof NAME')()",
  "setTimeout.constructor('return typeof NAME')()",
  "Object.getPrototypeOf(async () => 1).constructor('return typeof NAME')",
]

test('escape: no name reaches an object of the host', async (t) => {
  const probes = absent.flatMap((name) => places.map((place) => place.replaceAll('NAME', name)))
  const body = `const seen = []
    for (const probe of input) { const value = eval(probe); seen.push(typeof value === 'function' ? await value() : value) }
    return seen`
  const found = (await resultOf(t, openSandbox(t), body, { input: probes })) as string[]
  t.deepEqual(
    probes.filter((_, index) => found[index] !== 'undefined'),
    [],
  )
  t.true(probes.length > 150)
})

test('escape: no module can be imported', async (t) => {
  const sandbox = openSandbox(t)
  for (const name of ['node:fs', 'fs', './x.js', 'data:text/javascript,1', 'isolated-vm']) {
    t.is((await runBody(sandbox, `return import('${name}')`)).error, 'Not supported', name)
  }
  t.regex(
    (
      await sandbox.run({
        owner: 'test',
        source: 'import fs from "fs"\nfunction handler() {}',
        inputText: 'null',
        timeoutMs: 5_000,
        sdkMethods: [],
        call: async () => null,
      })
    ).error ?? '',
    /import/,
  )
})

test('escape: no detour reaches shared memory or WebAssembly', async (t) => {
  const body = `const kinds = [ArrayBuffer, ...Object.getOwnPropertyNames(globalThis).map((name) => globalThis[name])]
    const names = new Set()
    const visit = (value, depth) => {
      if ((typeof value !== 'object' && typeof value !== 'function') || value === null || depth > 4 || names.has(value)) return
      names.add(value)
      for (const key of Reflect.ownKeys(value)) { try { visit(value[key], depth + 1) } catch {} }
      visit(Object.getPrototypeOf(value), depth + 1)
    }
    for (const kind of kinds) visit(kind, 0)
    return [...names].map((value) => Object.prototype.toString.call(value)).filter((tag) => /Shared|WebAssembly|Atomics|Memory/.test(tag))`
  t.deepEqual(await resultOf(t, openSandbox(t), body), [])
})

test('escape: no object of isolated-vm can be reached from anything that a function holds', async (t) => {
  const body = `const seen = new Set()
    const found = []
    const marks = ['applySync', 'derefInto', 'copySync', 'isDisposed', 'compileScript', 'release']
    const visit = (value, path) => {
      if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return
      seen.add(value)
      if (marks.some((mark) => mark in value)) found.push(path)
      for (const key of Reflect.ownKeys(value)) { try { visit(value[key], path + '.' + String(key)) } catch {} }
      visit(Object.getPrototypeOf(value), path + '.[[Prototype]]')
    }
    const call = sdk.records.list()
    visit({ globalThis, handler, input, call, answer: await call, error: await sdk.records.list(1n).catch((error) => error) }, '')
    return [found, seen.size > 500]`
  t.deepEqual(await resultOf(t, openSandbox(t), body, { input: { a: 1 } }), [[], true])
})

test('escape: stack frames below a function reveal neither Kontor’s functions nor their values', async (t) => {
  const source = `
    const own = new Set()
    const found = []
    Error.prepareStackTrace = (_, sites) => {
      for (const site of sites) {
        const made = [site.getFunction(), site.getThis()].filter((value) => value !== undefined && value !== globalThis && !own.has(value))
        for (const value of made) found.push(String(value).slice(0, 80))
      }
      return 'stack'
    }
    function look() { return new Error().stack }
    function handler() {
      look()
      if (handler.caller || handler.arguments?.callee?.caller) found.push('caller')
      console.log({ get stack() { look(); return 'x' }, toJSON: looking })
      sdk.records.list({ toJSON: looking })
      setTimeout(looking, { valueOf: looking })
      return { then: thenable }
    }
    function looking() { look(); return 1 }
    function thenable(done) { look(); done({ toJSON: () => { look(); return found } }) }
    for (const value of [look, handler, looking, thenable]) own.add(value)`
  const outcome = await openSandbox(t).run({
    owner: 'test',
    source,
    inputText: 'null',
    timeoutMs: 30_000,
    sdkMethods: ['records.list'],
    call: async () => null,
  })
  t.is(outcome.error, null)
  const found = JSON.parse(outcome.resultText) as string[]
  t.deepEqual(
    found.filter((text) => !/look\(\)|\[object Object\]/.test(text)),
    [],
  )
})
