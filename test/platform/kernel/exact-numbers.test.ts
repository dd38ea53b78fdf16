import test from 'ava'
import fc from 'fast-check'
import { parseExactJson, quoteInexactNumbers } from '#shared/platform/kernel/values/exact-numbers.ts'

/** Every number's text by JSON.parse with a reviver: slow and right. -0 becomes 0. */
const byReviver = (text: string): unknown =>
  JSON.parse(text, (_key, value, { source }) =>
    typeof value !== 'number' || source === undefined || String(value) === source || source === '-0' ? value : JSON.rawJSON(source),
  )

const same = (text: string): boolean => JSON.stringify(parseExactJson(text)) === JSON.stringify(byReviver(text))

const numbers = ['0', '-0', '1', '-1.5', '1.50', '10.0', '0.1', '100', '123456789012345', '1234567890123456', '12345678901234567890', '0.000001',
  '0.0000001', '-0.00000012', '10.0000005', '1e5', '1E5', '1e-7', '1e21', '1.5e+3', '1e400', '-1e-400', '12345678901234.123456',
  '0.1234567890123456', '9007199254740993', '-12345.67', '1.0'] // biome-ignore format: a list of numbers

test('exact numbers: every number keeps its text in every position', (t) => {
  for (const number of numbers) {
    for (const around of ['N', ' N ', '[N]', '[N,N]', '{"a":N}', '{"__proto__":N,"N":"N"}', '["N",{"a":[[N]]}]', '"\\"N"', '["\\\\",N]']) {
      const text = around.replaceAll('N', number)
      t.true(same(text), text)
    }
    t.is(JSON.stringify(parseExactJson(`[${number}]`)), number === '-0' ? '[0]' : `[${number}]`)
  }
})

test('exact numbers: invalid JSON throws the error of JSON.parse', (t) => {
  const wrong = ['', '{1e5:2}', '{12345678901234567890:1}', '[1.50', '01.50', '[1.2.3]', '[1e]', '[.50]', '[1.50.]', '"a"1.50', '1.50"a"', '[1.50 1.50]',
    '+1.50', '--1.50', '1.50-', '[-]', '{"a":1.50,}', "{'a':1.50}", '"1.50', 'NaN', '1_000.50'] // biome-ignore format: a list of texts
  for (const text of wrong) {
    const { message } = t.throws(() => JSON.parse(text), { instanceOf: SyntaxError })
    t.throws(() => parseExactJson(text), { instanceOf: SyntaxError, message }, text)
  }
})

test('exact numbers: any JSON is parsed as JSON.parse does', (t) => {
  const number = fc.oneof(
    fc.constantFrom(...numbers),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.integer().map(String),
  )
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      number,
      fc.string().map((text) => JSON.stringify(text)),
      fc.constant('null'),
      tie('list'),
      tie('parts'),
    ),
    list: fc.array(tie('value')).map((items) => `[${items.join(', ')}]`),
    parts: fc.dictionary(fc.string(), tie('value')).map((parts) => {
      return `{${Object.entries(parts).map(([key, part]) => `${JSON.stringify(key)} :${part}`)}}`
    }),
  }))
  fc.assert(fc.property(value as fc.Arbitrary<string>, same), { numRuns: 1_000 })
  t.pass()
})

for (const [text, quoted] of [
  ['12345678901234.123456', '"12345678901234.123456"'],
  ['[1.10, 1e2, 0.5, -0, 123456789012345.0]', '[1.10, 1e2, 0.5, -0, 123456789012345.0]'],
  ['{"a":9007199254740993,"b":"9007199254740993"}', '{"a":"9007199254740993","b":"9007199254740993"}'],
  ['[1e400,-12345678901234567890.5]', '["1e400","-12345678901234567890.5"]'],
  ['null', 'null'],
] as const)
  test(`exact numbers: JavaScript reads ${text} as ${quoted}`, (t) => t.is(quoteInexactNumbers(text), quoted))
