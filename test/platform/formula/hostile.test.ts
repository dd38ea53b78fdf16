import test from 'ava'
import { compileNode } from '#shared/platform/formula/compile.ts'
import { startEvaluation } from '#shared/platform/formula/evaluation.ts'
import { toFieldValue } from '#shared/platform/formula/field-result.ts'
import { compileFormula } from '#shared/platform/formula/formula.ts'
import { formulaLimits } from '#shared/platform/formula/limits.ts'
import { parseFormula } from '#shared/platform/formula/parse/parser.ts'
import type { FieldType, FieldValue } from '#shared/platform/kernel/field-type.ts'
import { now, shown } from './evaluate.ts'

const long = {
  t: ['text', 'aA'.repeat(50_000)],
  w: ['text', 'İ😀'.repeat(50_000)],
  n: ['number', '0.1234567890123456789'],
} as const

const many = (part: string, count: number, between = '+'): string => Array.from({ length: count }, () => part).join(between)

const empty = [
  'REPT("x", 1e9)',
  'REPT("x", 1e300)',
  'REPT(REPT("x", 1e5), 1e5)',
  'REPT(t, 2)',
  't & t',
  'CONCAT(t, "x")',
  'TEXTJOIN(t, TRUE, t, t)',
  'SUBSTITUTE(t, "a", t)',
  'SUBSTITUTE(REPT("a", 1000), "a", REPT("b", 1000))',
  'REPLACE(t, 1, 0, t)',
  'TEXT(t, REPT("@", 255))',
  'TEXT(1, REPT("0", 256))',
  'LOWER(w)',
  '9^9^9^9',
  '1e307^1e307',
  '1e307*1e307',
  'EXP(1e300)',
  'POWER(10, 308)',
  'PRODUCT(1e300, 1e300)',
  'DATE(1e300, 1, 1)',
  'DATE(2026, 1e15, 1e15)',
  'EDATE(TODAY(), 1e300)',
  'TODAY() + 1e300',
  'WORKDAY(TODAY(), 1e15)',
  'SEARCH(REPT("a", 256), t)',
  many('SEARCH("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa?b*", t)', 60),
  many('LN(n)', 300),
  many('n^n', 250),
  many('LEN(PROPER(w))', 150),
  `SWITCH(t, ${many('w, 1', 400, ', ')})`,
]

test('hostile: a formula that would grow or run without end has no value', (t) => {
  for (const source of empty) t.regex(shown(source, long), /^#(NUM|VALUE|LIMIT|DIV\/0|N\/A)/, source.slice(0, 60))
})

test('hostile: every evaluation counts its steps', (t) => {
  const costly = [many('n^n', 250), many('LEN(PROPER(t))', 200), `SWITCH("x", ${many('w, 1', 400, ', ')})`, many('(t=w)', 240, '=')]
  for (const source of costly) {
    const fields = new Map(Object.entries(long).map(([key, [type]]) => [key, { type: type as FieldType }]))
    const run = startEvaluation(new Map<string, FieldValue>(Object.entries(long).map(([key, [, value]]) => [key, value])), { now }, 3)
    compileNode(parseFormula(source), { fields, slots: new Map(), words: new Set() })(run)
    t.true(run.steps < 0, source.slice(0, 40))
    t.true(run.steps > -2 * formulaLimits.steps, `${source.slice(0, 40)} did not stop in time`)
  }
})

test('hostile: an evaluation that ran out of steps has no value although the formula catches errors', (t) => {
  t.is(shown(`IFERROR(${many('n^n', 240)}, 0)`, long), '#LIMIT!')
  t.is(shown(`ISERROR(${many('n^n', 240)})`, long), '#LIMIT!')
})

const refused: readonly (readonly [source: string, message: RegExp])[] = [
  ['('.repeat(10_000) + 1, /at most 4000 characters, got 10001/],
  [`"${'😀'.repeat(3_999)}"`, /at most 4000 characters, got 4001/],
  [`${'('.repeat(1_000)}1${')'.repeat(1_000)}`, /nested deeper than 64 levels at position 65/],
  [`${'-'.repeat(1_000)}1`, /nested deeper than 64 levels/],
  [`${'ABS('.repeat(700)}1${')'.repeat(700)}`, /nested deeper than 64 levels/],
  [`1${'%'.repeat(1_000)}`, /more than 1000 parts/],
  [many('1', 1_000), /more than 1000 parts/],
  [`SUM(${','.repeat(1_500)})`, /more than 1000 parts/],
]

test('hostile: a formula that is too long, too deep or too large is refused', (t) => {
  for (const [source, message] of refused) {
    t.throws(() => compileFormula(source, { fields: new Map(), target: { key: 'r' } }), { code: 'VALIDATION_ERROR', message })
  }
})

test('hostile: a formula of the maximum depth and size works', (t) => {
  t.is(shown(`${'('.repeat(formulaLimits.depth)}1${')'.repeat(formulaLimits.depth)}`), '1')
  t.is(shown(many('1', formulaLimits.nodes / 2)), String(formulaLimits.nodes / 2))
})

test('hostile: names of object members are harmless as fields, words and options', (t) => {
  for (const key of ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf']) {
    t.is(shown(`${key} & "x"`, Object.fromEntries([[key, ['string', 'v']]])), 'vx')
    t.is(shown(`a=${key}`, { a: ['select', key, [key]] }), 'TRUE')
  }
})

test('hostile: NUL and lone surrogates never reach a field', (t) => {
  t.is(toFieldValue('a\0b', { type: 'text' }), null)
  t.is(toFieldValue('a\ud800', { type: 'string' }), null)
})
