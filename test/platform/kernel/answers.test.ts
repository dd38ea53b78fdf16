import test from 'ava'
import fc from 'fast-check'
import type { Problem } from '#shared/platform/kernel/errors.ts'
import { AnswerAdmission, type AnswerStage } from '#shared/platform/kernel/process/answer-admission.ts'
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

/** Notes in `admitted` what was admitted, in order. */
function admitting(answers: AnswerAdmission) {
  const admitted: string[] = []
  const take = async (owner: string, bytes: number, stage: AnswerStage = 'unread') => {
    const answer = await answers.admit(owner, bytes, stage)
    admitted.push(`${owner} ${bytes}`)
    return answer
  }
  return { admitted, take }
}

test('answers: who is alone has three quarters, beside another owner a quarter, and they alternate', async (t) => {
  const { admitted, take } = admitting(new AnswerAdmission(1_000, () => false))
  const own = [await take('a', 250), await take('a', 250), await take('a', 250)]
  const later = [take('a', 200), take('a', 50)]
  const other = await take('b', 250)
  t.deepEqual(admitted.slice(3), ['b 250'], 'the last quarter is for those who arrive')
  const third = take('c', 100)
  own[0]?.end()
  own[0]?.end()
  const endThird = await third
  own[1]?.end()
  own[2]?.end()
  const last = await Promise.all(later)
  t.deepEqual(admitted.slice(3), ['b 250', 'c 100', 'a 200', 'a 50'])
  for (const answer of [other, endThird, ...last]) answer.end()
})

test('answers: the workspaces of one owner have a quarter together while another owner calls', async (t) => {
  let others = true
  const { admitted, take } = admitting(new AnswerAdmission(1_000, () => others))
  const first = await take('owner/a', 200)
  const second = take('owner/b', 60)
  await Promise.resolve()
  t.deepEqual(admitted, ['owner/a 200'])
  first.end()
  const third = await second
  others = false
  const more = [await take('owner/a', 200), await take('owner/a', 200), await take('owner/a', 200)]
  for (const answer of [third, ...more]) answer.end()
  t.is(admitted.length, 5)
})

test('answers: one that is larger than a quarter counts with a quarter, so owners cannot exceed the whole by large ones', async (t) => {
  const { admitted, take } = admitting(new AnswerAdmission(1_000, () => true))
  const open = await Promise.all(['a', 'b', 'c', 'd'].map((owner) => take(owner, 5_000)))
  const fifth = take('e', 5_000)
  await Promise.resolve()
  t.is(admitted.length, 4)
  open[0]?.end()
  for (const answer of [...open, await fifth]) answer.end()
})

test('answers: what was made waits up to the share of its owner, and what was committed does not wait', async (t) => {
  const { take } = admitting(new AnswerAdmission(1_000, () => true))
  const first = await take('a', 250)
  const waiting = take('a', 200, 'made')
  t.like(await t.throwsAsync<Problem>(take('a', 100, 'made')), { code: 'OVERLOADED', headers: { 'Retry-After': '1' } })
  const committed = await take('a', 250, 'committed')
  first.end()
  committed.end()
  const second = await waiting
  second.end()
})

test('answers: one that nobody takes is cut off once it keeps another owner waiting, and one that moves is not', async (t) => {
  const { take } = admitting(new AnswerAdmission(400, () => true))
  const cut: string[] = []
  const [idle, moving, , own] = await Promise.all(['a', 'b', 'c', 'd'].map((owner) => take(owner, 100)))
  idle?.beginSending(() => {
    cut.push('idle')
    idle.end()
  })
  moving?.beginSending(() => cut.push('moving'))
  own?.beginSending(() => cut.push('own'))
  const pieces = setInterval(() => moving?.notePiece(), 100)
  t.teardown(() => clearInterval(pieces))
  const waiting = take('d', 1)
  await Promise.race([waiting.catch(() => undefined), eventually(() => cut.length > 0 && cut)])
  t.false(cut.includes('moving'))
  t.false(cut.includes('own'), 'nobody waits but its own owner')
  t.true(cut.includes('idle'))
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
  const open = [25, 25, 25].map((bytes) => answers.admit('a', bytes, 'unread'))
  t.is((await t.throwsAsync<Problem>(answers.admit('a', 1, 'unread')))?.code, 'OVERLOADED')
  for (const answer of await Promise.all(open)) answer.end()
  t.truthy(await answers.admit('a', 25, 'unread'))
})
