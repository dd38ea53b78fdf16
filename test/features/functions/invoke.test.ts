import test from 'ava'
import { readGate } from '#test/features/functions/rows.ts'
import {
  allow,
  createFunction,
  createLatch,
  handlerOf,
  invoke,
  listStarted,
  runBody,
  waitAtLatch,
} from '#test/features/functions/support.ts'
import { eventually } from '#test/support/eventually.ts'
import { createMember } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const fresh = shareWorld(test)

test('invoke: an invocation returns the result, the output, the steps and the duration', async (t) => {
  const { org } = await fresh()
  const body =
    "console.log('a', { b: 1 }); console.warn('w'); console.error(new Error('e').message); await sdk.crypto.uuid(); return { got: input }"
  const { duration_ms, ...rest } = await runBody(t, org, body, { deep: [1, null, 'x'] })
  t.deepEqual(rest, {
    result: { got: { deep: [1, null, 'x'] } },
    logs: [
      { level: 'log', msg: 'a {"b":1}' },
      { level: 'warn', msg: 'w' },
      { level: 'error', msg: 'e' },
    ],
    steps: [{ method: 'crypto.uuid', is_error: false }],
    timed_out: false,
  })
  t.true(Number.isInteger(duration_ms) && duration_ms >= 0)
})

test('invoke: an absent input is null, and so is a handler that returns nothing', async (t) => {
  const { org } = await fresh()
  const { id } = await createFunction(t, org, handlerOf("return input === null ? 'null' : typeof input"))
  const post = (body?: unknown) => org.owner.post(`${org.path}/functions/${id}/invoke`, body)
  t.is((await post()).data.result, 'null')
  t.is((await post({})).data.result, 'null')
  t.is((await post({ input: null })).data.result, 'null')
  t.is((await post({ input: 0 })).data.result, 'number')
  t.is((await runBody(t, org, '')).result, null)
})

test('invoke: a function that throws or takes too long is a 200 that says so', async (t) => {
  const { org } = await fresh()
  t.like(await runBody(t, org, "console.log('before'); throw new Error('No such customer')"), {
    result: null,
    error: 'No such customer',
    timed_out: false,
    logs: [{ level: 'log', msg: 'before' }],
  })
  const { id } = await createFunction(t, org, handlerOf('for (;;);'), { timeout_ms: 100 })
  t.like(await invoke(t, org, id), { result: null, error: 'timed out', timed_out: true })
  const waiting = await createFunction(t, org, handlerOf('await new Promise(() => undefined)'), { timeout_ms: 100 })
  t.like(await invoke(t, org, waiting.id), { error: 'timed out', timed_out: true })
  const greedy = handlerOf('const all = []; for (;;) all.push(new Array(100000).fill(1.5))')
  t.like(await invoke(t, org, (await createFunction(t, org, greedy)).id), { error: 'memory limit exceeded', timed_out: false })
})

test('invoke: results and inputs keep their digits, keys and text', async (t) => {
  const { org } = await fresh()
  const { id } = await createFunction(t, org, handlerOf('return input'))
  const texts = [
    '{"__proto__":{"a":1},"constructor":2,"é\\u2028😀":"\\n\\"\\\\"}',
    '[1,2.5,-0.000001,123456789012345]',
    '"x"',
    'false',
    '1e21',
    '{}',
  ]
  for (const text of texts) {
    const answer = await org.owner.send('POST', `${org.path}/functions/${id}/invoke`, `{"input": ${text}}`, {
      'content-type': 'application/json',
    })
    t.true(answer.text.startsWith(`{"data":{"result":${JSON.stringify(JSON.parse(text))},`), answer.text)
  }
  const huge = await org.owner.send('POST', `${org.path}/functions/${id}/invoke`, '{"input": [1e100000]}', {
    'content-type': 'application/json',
  })
  t.is(huge.status, 200, huge.text)
})

test('invoke: a disabled function is refused, a deleted one is 404, and an invocation needs its permission', async (t) => {
  const w = await fresh()
  const { org } = w
  const { id } = await createFunction(t, org, handlerOf('return 1'))
  await org.owner.put(`${org.path}/functions/${id}`, { enabled: false })
  const refused = await org.owner.post(`${org.path}/functions/${id}/invoke`)
  t.is(refused.status, 400)
  t.like(refused.body.error, { code: 'VALIDATION_ERROR', message: 'The function is disabled' })
  const { client } = await createMember(w, org, [allow('functions:read', 'functions:create')])
  t.is((await client.post(`${org.path}/functions/${id}/invoke`)).status, 403)
})

test('invoke: Prefer: respond-async returns a job whose result is the body of the call', async (t) => {
  const w = await fresh()
  const { id } = await createFunction(t, w.org, handlerOf('return 7'))
  const asked = await w.org.owner.post(`${w.org.path}/functions/${id}/invoke`, {}, { prefer: 'respond-async' })
  t.is(asked.status, 202)
  t.is(asked.headers.get('preference-applied'), 'respond-async')
  const place = `${w.org.path}/jobs/${asked.data.job_id}`
  t.true(asked.headers.get('location')?.endsWith(place))
  await w.drain()
  const { data } = await w.org.owner.get(place)
  t.like(data, { kind: 'functions.invoke', status: 'done', error: null })
  t.like(data.result, { result: 7, timed_out: false, steps: [], logs: [] })
})

test('invoke: an Idempotency-Key runs a function once', async (t) => {
  const { org } = await fresh()
  const { id } = await createFunction(t, org, handlerOf('return (await sdk.records.create("locations", { name: "once" })).id'))
  const send = () => org.owner.post(`${org.path}/functions/${id}/invoke`, {}, { 'idempotency-key': 'k1' })
  const answers = await Promise.all(Array.from({ length: 20 }, send))
  t.is(new Set(answers.map(({ text }) => text)).size, 1)
  t.is((await org.owner.get(`${org.path}/records/locations?page=1`)).data.total, 1)
})

test('invoke: a function that is changed while its call waits runs in its new version', async (t) => {
  const w = await fresh()
  const { org } = w
  const latch = await createLatch(org)
  const busy = await createFunction(t, org, handlerOf(waitAtLatch))
  const { id } = await createFunction(t, org, handlerOf("return 'old'"))
  const blockers = Array.from({ length: 4 }, (_, number) => invoke(t, org, busy.id, { latch: latch.id, number }))
  await eventually(async () => (await listStarted(org)).length === 4)
  const [changed, disabled] = [invoke(t, org, id), org.owner.post(`${org.path}/functions/${busy.id}/invoke`)]
  await eventually(async () => (await readGate(w.db, org.id)).waiting === 2)
  await org.owner.put(`${org.path}/functions/${id}`, { source: handlerOf("return 'new'") })
  await org.owner.put(`${org.path}/functions/${busy.id}`, { enabled: false })
  await latch.open()
  t.is((await changed).result, 'new')
  t.is((await disabled).status, 400)
  await Promise.all(blockers)
})

test('invoke: a result that is not JSON is an error of the run, and values that JSON omits are omitted', async (t) => {
  const { org } = await fresh()
  const results: readonly (readonly [string, unknown])[] = [
    ['return NaN', null],
    ['return new Date(0)', '1970-01-01T00:00:00.000Z'],
    ['return { a: undefined, b: [undefined], c: new Map([[1, 2]]) }', { b: [null], c: {} }],
    ['return { then: (done) => done({ toJSON: () => 7 }) }', 7],
  ]
  for (const [body, result] of results) {
    const run = await runBody(t, org, body)
    t.deepEqual(run.result, result, body)
    t.false('error' in run)
  }
  const errors: readonly (readonly [string, RegExp])[] = [
    ['return () => 1', /JSON: it is a function$/],
    ['return Symbol()', /JSON: it is a symbol$/],
    ['return 10n', /JSON: Do not know how to serialize a BigInt$/],
    ['const a = {}; a.a = a; return a', /JSON: Converting circular structure/],
    ["return '\\ud800'", /lone surrogate$/],
    ["return '\\u0000'", /NUL character/],
    ['return { toJSON() { throw new Error("no") } }', /no$/],
    ['throw null', /^null$/],
    ['throw { a: 1 }', /^\{"a":1\}$/],
  ]
  for (const [body, message] of errors) {
    const run = await runBody(t, org, body)
    t.is(run.result, null)
    t.false(run.timed_out)
    t.regex(run.error, message, body)
  }
})
