import test from 'ava'
import { problem } from '#shared/platform/kernel/errors.ts'
import { openSandbox, resultOf, runBody, stuckCall } from '#test/features/functions/sandbox/open-sandbox.ts'

test('sandbox sdk: the methods are in namespaces that a function cannot change', async (t) => {
  const body = `
    const before = sdk.records.list
    sdk.records.list = 1; sdk.records.other = 2; sdk.more = 3
    return [Object.keys(sdk), Object.keys(sdk.records), sdk.records.list === before]`
  const sdkMethods = ['records.list', 'records.get', 'crypto.uuid']
  t.deepEqual(await resultOf(t, openSandbox(t), body, { sdkMethods }), [['records', 'crypto'], ['list', 'get'], true])
})

test('sandbox sdk: a call sends its arguments and returns its answer', async (t) => {
  const seen: unknown[] = []
  const call = async (method: string, args: readonly unknown[]) => {
    seen.push([method, args])
    return args.length === 0 ? undefined : { answer: args[0] }
  }
  const body = `return [await sdk.records.list('a', { b: [1, null] }, undefined, 2, undefined), await sdk.records.list() === undefined]`
  t.deepEqual(await resultOf(t, openSandbox(t), body, { call }), [{ answer: 'a' }, true])
  t.deepEqual(seen, [
    ['records.list', ['a', { b: [1, null] }, null, 2]],
    ['records.list', []],
  ])
})

test('sandbox sdk: arguments and answers keep every digit of an amount', async (t) => {
  const amounts: unknown[] = []
  const call = async (_method: string, [amount]: readonly unknown[]) => {
    amounts.push(amount)
    return amount
  }
  const body = `await sdk.records.list(JSON.rawJSON('12345678901234.123456')); return JSON.rawJSON('98765432109876.654321')`
  const { resultText } = await runBody(openSandbox(t), body, { call })
  t.deepEqual(amounts, [JSON.rawJSON('12345678901234.123456')])
  t.is(resultText, '98765432109876.654321')
})

test('sandbox sdk: a call that fails throws an Error with the code and message that the API would answer', async (t) => {
  const call = async () => {
    throw problem('KEY_TAKEN', 'the key is used')
  }
  const body =
    'try { await sdk.records.list() } catch (error) { return [error instanceof Error, error.code, error.message, Object.keys(error)] }'
  t.deepEqual(await resultOf(t, openSandbox(t), body, { call }), [true, 'KEY_TAKEN', 'the key is used', ['code']])
})

test('sandbox sdk: a failure of Kontor is INTERNAL without detail', async (t) => {
  const call = async () => {
    throw new Error('connection to 10.0.0.1 refused')
  }
  const { error, steps } = await runBody(openSandbox(t), 'await sdk.records.list()', { call })
  t.is(error, 'Something went wrong on our side')
  t.deepEqual(steps, [{ method: 'records.list', is_error: true }])
})

test('sandbox sdk: steps are the calls in their order, each with its outcome', async (t) => {
  const call = async (_method: string, [fails]: readonly unknown[]) => {
    if (fails) throw problem('NOT_FOUND')
  }
  const sdkMethods = ['records.get', 'records.create']
  const body = 'await sdk.records.create(); await sdk.records.get(true).catch(() => 1); await sdk.records.get()'
  const { steps, error } = await runBody(openSandbox(t), body, { call, sdkMethods })
  t.is(error, null)
  t.deepEqual(steps, [
    { method: 'records.create', is_error: false },
    { method: 'records.get', is_error: true },
    { method: 'records.get', is_error: false },
  ])
})

test('sandbox sdk: arguments that no request could contain are refused', async (t) => {
  const body = `let deep = 1; for (let n = 0; n < 70; n++) deep = [deep]
    const refused = async (value) => { try { await sdk.records.list(value); return 'taken' } catch (error) { return error.code } }
    const circle = {}; circle.circle = circle
    return [await refused(deep), await refused('\\0'), await refused('\\ud83d'), await refused(1n), await refused(circle), await refused(() => 1)]`
  t.deepEqual(await resultOf(t, openSandbox(t), body), [
    'VALIDATION_ERROR',
    'VALIDATION_ERROR',
    'VALIDATION_ERROR',
    'VALIDATION_ERROR',
    'VALIDATION_ERROR',
    'taken',
  ])
})

test('sandbox sdk: at most eight calls of a run are open at a time, and all are made', async (t) => {
  let [out, most, made] = [0, 0, 0]
  const eightAreOpen = Promise.withResolvers<void>()
  const call = async () => {
    most = Math.max(most, ++out)
    // The first calls wait for each other, since a busy machine delivers them one by one.
    if (out === 8) eightAreOpen.resolve()
    await eightAreOpen.promise
    await new Promise((resolve) => setImmediate(resolve))
    out -= 1
    return ++made
  }
  const answers = await resultOf(t, openSandbox(t), 'return Promise.all(Array.from({ length: 100 }, () => sdk.records.list()))', { call })
  t.is((answers as unknown[]).length, 100)
  t.is(made, 100)
  t.is(most, 8)
})

test('sandbox sdk: a run ends after calls that its handler did not await', async (t) => {
  let made = 0
  const call = async () => {
    // Slower than the handler, which returns without waiting for it.
    await new Promise((resolve) => setTimeout(resolve, 5))
    made += 1
  }
  const { resultText, steps } = await runBody(openSandbox(t), 'for (let n = 0; n < 20; n++) sdk.records.list(); return 1', { call })
  t.is(resultText, '1')
  t.is(made, 20)
  t.is(steps.filter((step) => !step.is_error).length, 20)
})

test('sandbox sdk: the time limit includes a call; its signal is aborted, and its late answer changes nothing', async (t) => {
  const sandbox = openSandbox(t)
  const stuck = stuckCall()
  const outcome = await runBody(sandbox, 'await sdk.records.list()', { timeoutMs: 2_000, call: stuck.call })
  t.like(outcome, { ending: 'timed_out', steps: [{ method: 'records.list', is_error: true }] })
  t.true((await stuck.made).aborted)

  const late = Promise.withResolvers<string>()
  const cut = await runBody(sandbox, 'await sdk.records.list()', { timeoutMs: 2_000, call: () => late.promise })
  late.resolve('late')
  t.is(await resultOf(t, sandbox, "return (await sdk.records.list('mine'))[0]"), 'mine')
  t.deepEqual(cut.steps, [{ method: 'records.list', is_error: true }])
})

test('sandbox sdk: a handler that ended in time is not timed out by a call that it left open', async (t) => {
  const sandbox = openSandbox(t)
  const left = { call: () => new Promise(() => undefined), timeoutMs: 300 }
  const raced = await runBody(sandbox, 'return Promise.race([sdk.records.list(), new Promise((done) => setTimeout(done, 1, 2))])', left)
  t.like(raced, { ending: 'returned', resultText: '2', steps: [{ method: 'records.list', is_error: true }] })
  t.like(await runBody(sandbox, "sdk.records.list(); throw new Error('own')", left), { ending: 'threw', error: 'own' })
  t.like(await runBody(sandbox, 'await sdk.records.list(); return 1', left), { ending: 'timed_out' })
})
