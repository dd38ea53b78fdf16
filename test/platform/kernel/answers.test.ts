import test from 'ava'
import fc from 'fast-check'
import type { Problem } from '#shared/platform/kernel/errors.ts'
import { AnswerAdmission } from '#shared/platform/kernel/process/answer-admission.ts'
import { othersCalled, RunningCall } from '#shared/platform/kernel/process/running-calls.ts'
import { exceedsJsonBytes, jsonPieces } from '#shared/platform/kernel/values/json-pieces.ts'
import { eventually } from '#test/support/eventually.ts'

const whole = (value: unknown): string => [...jsonPieces(value)].join('')

test('answers: JSON in pieces is the JSON of the whole', (t) => {
  fc.assert(
    fc.property(fc.object({ maxDepth: 5, maxKeys: 8, withDate: true, withNullPrototype: true, withSparseArray: true }), (value) => {
      t.is(whole({ data: value }), JSON.stringify({ data: value }))
    }),
  )
  const long = Array.from({ length: 40 }, (_, index) => ({ index, nothing: undefined, exact: JSON.rawJSON('1.0'), at: new Date(0) }))
  for (const value of [
    long,
    { data: { records: long, total: 40 } },
    { data: { stages: [{ items: long }], none: undefined } },
    [],
    {},
    null,
  ]) {
    t.is(whole(value), JSON.stringify(value))
  }
  t.true([...jsonPieces({ data: { stages: [{ items: long }] } })].length > long.length)
})

test('answers: the size of an answer is estimated from below', (t) => {
  const text = 'x'.repeat(1_000)
  t.false(exceedsJsonBytes({ data: [text] }, 2_000))
  t.true(exceedsJsonBytes({ data: [text, text] }, 2_000))
  t.true(
    exceedsJsonBytes(
      Array.from({ length: 1_000 }, () => null),
      999,
    ),
  )
  fc.assert(fc.property(fc.jsonValue(), (value) => !exceedsJsonBytes(value, JSON.stringify(value).length)))
})

test('answers: a workspace that is alone has all bytes, beside another one a quarter, and they alternate', async (t) => {
  const answers = new AnswerAdmission(1_000, () => false)
  const admitted: string[] = []
  const take = (id: string, bytes: number) =>
    answers.admit(id, bytes).then((end) => {
      admitted.push(id)
      return end
    })
  const [first, second] = [await take('a', 500), await take('a', 500)]
  const own = take('a', 100)
  const other = take('b', 200)
  await Promise.resolve()
  t.deepEqual(admitted, ['a', 'a'])
  second()
  const endOther = await other
  t.deepEqual(admitted, ['a', 'a', 'b'], 'a has more than its quarter')
  first()
  first()
  const endOwn = await own
  const large = take('c', 5_000)
  const endLarge = await large
  t.deepEqual(admitted, ['a', 'a', 'b', 'a', 'c'], 'an answer larger than all is admitted when its workspace has none')
  const after = take('c', 1)
  endLarge()
  for (const end of [await after, endOwn, endOther]) end()
})

test('answers: a workspace has a quarter while another one calls, with small answers too', async (t) => {
  let others = true
  const answers = new AnswerAdmission(1_000, () => others)
  const admitted: number[] = []
  const take = (bytes: number) =>
    answers.admit('a', bytes).then((end) => {
      admitted.push(bytes)
      return end
    })
  const end = await take(250)
  const later = take(251)
  await Promise.resolve()
  t.deepEqual(admitted, [250])
  end()
  const endLater = await later
  others = false
  const more = await take(700)
  t.deepEqual(admitted, [250, 251, 700])
  for (const stop of [endLater, more]) stop()
})

test('answers: another workspace counts as a caller for a while after its call', async (t) => {
  const [one, another] = [crypto.randomUUID(), crypto.randomUUID()]
  const call = new RunningCall()
  call.countFor(one)
  t.true(othersCalled(another))
  call.end()
  t.true(othersCalled(another))
  await eventually(() => !othersCalled(another))
})

test('answers: one that waits 3 s is OVERLOADED', async (t) => {
  const answers = new AnswerAdmission(100, () => false)
  const end = await answers.admit('a', 100)
  const failure = await t.throwsAsync<Problem>(answers.admit('a', 1))
  t.is(failure?.code, 'OVERLOADED')
  end()
  t.truthy(await eventually(() => answers.admit('a', 100)))
})
