import { readFileSync } from 'node:fs'
import fc from 'fast-check'

const read = (name: string): unknown[] =>
  JSON.parse(readFileSync(new URL(`../../fixtures/strings/${name}.json`, import.meta.url), 'utf8')) as unknown[]

const collected = [...read('naughty-strings'), ...read('csv-injection')] as string[]
const odd = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udfff\ud800',
  '__proto__',
  'constructor',
  '\ufffe',
  '1e400',
  '-0',
  'a'.repeat(5_000),
]

/** Texts that broke programs before. */
export const hostileTexts: readonly string[] = [...collected, ...odd]
export const hostileText: fc.Arbitrary<string> = fc.constantFrom(...hostileTexts)

/** Any text: short words mostly, hostile ones, and any character of Unicode. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ maxLength: 12 }),
  hostileText,
  fc.string({ unit: 'binary', maxLength: 40 }),
)

/** Bodies that are not JSON, or JSON that no program writes. */
export const hostileBody: fc.Arbitrary<string | Uint8Array<ArrayBuffer>> = fc.constantFrom(
  ...read('prototype-pollution').flatMap((row) => (row as { json?: string }).json ?? []),
  '',
  'null',
  '[]',
  '"text"',
  '{',
  '{"values":{"number":1e400}}',
  `{"values":{"number":${'9'.repeat(2_000)}}}`,
  '{"values":{"string":"\\ud800"}}',
  '{"values":{"string":"\\u0000"}}',
  '['.repeat(20_000),
  `${'{"values":'.repeat(5_000)}1${'}'.repeat(5_000)}`,
  '{"name":"a","name":null}',
  new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
  new Uint8Array([0x00]),
)
