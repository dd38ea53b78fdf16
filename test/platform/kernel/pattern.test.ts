import { readFileSync } from 'node:fs'
import test from 'ava'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { compilePattern, maxPatternLength } from '#shared/platform/kernel/values/pattern.ts'

interface RedosCase {
  readonly pattern: string
  readonly attack?: string
  readonly re2js: true | string
}

const file = new URL('../../fixtures/regex/redos-patterns.json', import.meta.url)
const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: readonly RedosCase[] }

const refusal = (source: string): string => {
  try {
    compilePattern(source, 'rules.pattern')
  } catch (error) {
    if (error instanceof Problem && error.code === 'VALIDATION_ERROR') return error.message
    throw error
  }
  return ''
}

test('pattern: a pattern without anchors matches anywhere in the text', (t) => {
  t.true(compilePattern('\\d{3}').test('order 123 of May'))
  t.false(compilePattern('^\\d{3}$').test('order 123 of May'))
  t.true(compilePattern('^\\p{Lu}').test('Ärger'))
  t.true(compilePattern('^.$').test('😀'))
  t.true(compilePattern('').test(''))
})

const refused: readonly (readonly [string, RegExp])[] = [
  ['(?=a)', /look-around is not supported/],
  ['a(?!b)', /look-around is not supported/],
  ['(?<=a)b', /look-around is not supported/],
  ['(?<!a)b', /look-around is not supported/],
  ['(a)\\1', /back references are not supported/],
  ['(?P<n>a)\\k<n>', /back references are not supported/],
  ['(', /missing closing \)/],
  ['[a', /missing closing \]/],
  ['*', /missing argument to repetition operator/],
  ['a{1001}', /invalid repeat count/],
  ['\\u00e9', /invalid escape sequence/],
  ['x'.repeat(maxPatternLength + 1), /at most 500 characters/],
  ['x{1000}'.repeat(70), /too large/],
]
for (const [source, message] of refused) {
  test(`pattern: refused by name: ${source.slice(0, 20)}`, (t) => {
    t.regex(refusal(source), message)
    t.true(refusal(source).startsWith('rules.pattern '))
  })
}

test('pattern: a pattern has at most 500 characters, counted in code points', (t) => {
  t.is(refusal('😀'.repeat(maxPatternLength)), '')
})

// Without a clock: a backtracking engine would never return for these texts, and the run would be ended from outside.
for (const [index, { pattern, attack, re2js }] of cases.entries()) {
  test(`pattern: hostile pattern ${index} is refused, or answers on every attack`, (t) => {
    if (re2js !== true) return t.not(refusal(pattern), '')
    const compiled = compilePattern(pattern)
    const texts = [
      attack ?? '',
      (attack ?? '').slice(0, 500),
      'a'.repeat(500),
      `${'ab'.repeat(249)}!`,
      '\t'.repeat(500),
      '1'.repeat(500),
      '?'.repeat(500),
    ]
    for (const text of texts) t.is(typeof compiled.test(text), 'boolean')
  })
}

test('pattern: patterns that are exponential elsewhere return', (t) => {
  for (const source of ['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '^(.*a){20}$', '(x+x+)+y', '^(([a-z])+.)+[A-Z]([a-z])+$']) {
    t.false(compilePattern(source).test(`${'a'.repeat(499)}!`.replaceAll('a', source.includes('x') ? 'x' : 'a')), source)
  }
})
