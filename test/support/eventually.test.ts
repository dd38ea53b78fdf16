import test from 'ava'
import { eventually, longestWaitMs } from '#test/support/eventually.ts'

test('eventually: the first answer that is something is returned', async (t) => {
  const answers = [undefined, null, false, 0]
  t.is(await eventually(() => answers.shift()), 0)
  t.deepEqual(answers, [])
})

test('eventually: a wait beyond the bound fails with the last answer and the question', async (t) => {
  const { message } = await t.throwsAsync(eventually(() => false, 30))
  t.is(message, 'Still false after 30 ms: () => false')
})

test('eventually: an error of the question ends the wait', async (t) => {
  await t.throwsAsync(
    eventually(() => {
      throw new Error('gone')
    }),
    { message: 'gone' },
  )
})

test('eventually: a bound above two minutes is refused', async (t) => {
  await t.throwsAsync(
    eventually(() => true, longestWaitMs + 1),
    { message: 'A wait has at most 120000 ms, got 120001' },
  )
})
