import test from 'ava'
import fc from 'fast-check'
import { createFrameReader, encodeFrame, type Frame } from '#workers/features/functions/sandbox/runner/frames.ts'

test('frames: frames are decoded as they were encoded, for any split of the bytes', (t) => {
  const frames = fc.array(
    fc.record({ kind: fc.integer({ min: 1, max: 3 }), number: fc.nat(2 ** 32 - 1), text: fc.string({ unit: 'grapheme' }) }),
  )
  const property = fc.property(frames, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (sent, cuts) => {
    const bytes = Buffer.concat(sent.map(({ kind, number, text }) => encodeFrame(kind, number, text)))
    const received: Frame[] = []
    const read = createFrameReader({ 1: 1e6, 2: 1e6, 3: 1e6 }, (frame) => received.push(frame))
    for (let at = 0, cut = 0; at < bytes.length; cut++) {
      const size = cuts[cut % cuts.length] as number
      read(bytes.subarray(at, at + size))
      at += size
    }
    t.deepEqual(
      received,
      sent.map(({ kind, number, text }) => ({ kind, number, text: text.toWellFormed() })),
    )
  })
  fc.assert(property)
})

test('frames: a frame that is too long or of an unknown kind is refused by its header alone', (t) => {
  const read = (limits: Record<number, number>, bytes: Buffer) => createFrameReader(limits, () => t.fail())(bytes)
  const header = encodeFrame(2, 0, 'x'.repeat(11)).subarray(0, 9)
  t.notThrows(() => read({ 2: 11 }, header))
  t.throws(() => read({ 2: 10 }, header), { message: 'a frame of kind 2 with 11 bytes is not allowed' })
  t.throws(() => read({ 1: 100 }, header), { message: 'a frame of kind 2 with 11 bytes is not allowed' })
  t.throws(() => read({}, encodeFrame(0)), { message: /kind 0/ })
})
