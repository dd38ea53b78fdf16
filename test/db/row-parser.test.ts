import test from 'ava'
import fc from 'fast-check'
import type { BackendMessage } from 'pg-protocol/dist/messages.js'
import { Parser } from 'pg-protocol/dist/parser.js'
import { RowParser } from '#shared/db/row-parser.ts'

/** A message of the database: its letter, its length, and what it holds. */
function message(letter: string, ...parts: readonly Buffer[]): Buffer {
  const holds = Buffer.concat(parts)
  return Buffer.concat([Buffer.from(letter), int32(holds.length + 4), holds])
}

const int16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

const cell = (text: string | null): Buffer[] => (text === null ? [int32(-1)] : [int32(Buffer.byteLength(text)), Buffer.from(text)])
const row = (cells: readonly (string | null)[]): Buffer => message('D', int16(cells.length), ...cells.flatMap(cell))

/** What a parser makes of bytes that arrive in pieces of such lengths. */
function parsed(parser: Pick<Parser, 'parse'>, bytes: Buffer, pieces: readonly number[]): BackendMessage[] {
  const heard: BackendMessage[] = []
  let at = 0
  for (const length of [...pieces, bytes.length]) {
    // Each piece is memory of its own: the driver joins what is left of one with the next in place.
    parser.parse(Buffer.from(bytes.subarray(at, at + length)), (message) => heard.push(message))
    at += length
  }
  return heard
}

// Lengths on both sides of where a byte of the length, a half of latin1 and a part of a text become something else.
const lengths = [0, 1, 12, 13, 127, 128, 255, 256, 300, 4_000, 4_090, 65_600]
const texts = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary-ascii' }),
  fc.constantFrom(...lengths.flatMap((length) => ['x'.repeat(length), 'é'.repeat(length), `${'x'.repeat(length)}€`])),
)

test('rows are read as the driver reads them, however they arrive', (t) => {
  const rows = fc.array(fc.array(fc.option(texts), { maxLength: 20 }), { maxLength: 8 })
  const pieces = fc.array(fc.integer({ min: 1, max: 200 }), { maxLength: 20 })
  fc.assert(
    fc.property(rows, pieces, (rows, pieces) => {
      const bytes = Buffer.concat([...rows.map(row), message('C', Buffer.from('SELECT 1\0')), message('Z', Buffer.from('I'))])
      const expected = parsed(new Parser(), bytes, pieces) as { fields?: unknown }[]
      const heard = parsed(new RowParser(), bytes, pieces) as { fields?: unknown }[]
      t.deepEqual(
        heard.map(({ fields }) => fields),
        [...rows, undefined, undefined],
      )
      t.deepEqual(
        heard.map((message) => ({ ...message, length: null })),
        expected.map((message) => ({ ...message, length: null })),
      )
    }),
    { numRuns: 300 },
  )
})
