import test from 'ava'
import { compileFormula } from '#shared/platform/formula/formula.ts'
import { shown } from './evaluate.ts'

const status = ['select', 'paid', ['draft', 'open', 'paid']] as const
const invoice = {
  status,
  total: ['currency', { amount: '120.50', code: 'EUR' }],
  qty: ['number', '3'],
  name: ['string', 'Ada'],
  paid_on: ['date', '2026-02-28'],
  constructor: ['number', '7'],
} as const

const values: readonly (readonly [source: string, value: string])[] = [
  ['IF(status=paid, total, 0)', '120.5'],
  ['=if(status = paid, total, 0)', '120.5'],
  ['IF(open=status, 1, 2)', '2'],
  ['status<>draft', 'TRUE'],
  ['(status)=(paid)', 'TRUE'],
  ['status="paid"', 'TRUE'],
  ['name=ada', 'TRUE'],
  ['name=status', 'FALSE'],
  ['SWITCH(status, draft, 1, paid, 2, 3)', '2'],
  ['EXACT(name, Ada)', 'TRUE'],
  ['EXACT(name, ada)', 'FALSE'],
  ['constructor + 1', '8'],
  ['"say ""hi"""', 'say "hi"'],
  ['-2^2', '4'],
  ['2^-2', '0.25'],
  ['2^3^2', '64'],
  ['-10%', '-0.1'],
  ['50%%', '0.005'],
  ['2*3%', '0.06'],
  ['1+2&3', '33'],
  ['1=1=TRUE', 'TRUE'],
  ['"a"&"b"="AB"', 'TRUE'],
  ['.5+1.', '1.5'],
  ['1e3+1E-3', '1000.001'],
  [' \n total\t*\n2 ', '241'],
  ['true', 'TRUE'],
  ['False', 'FALSE'],
  ['IF(TRUE, , 5)', 'empty'],
]

test('language: a formula gives the value that a spreadsheet gives', (t) => {
  for (const [source, value] of values) t.is(shown(source, invoice), value, source)
})

const refusals: readonly (readonly [source: string, message: string])[] = [
  ['', 'formula: unexpected end at position 1'],
  ['=', 'formula: unexpected end at position 2'],
  ['1+', 'formula: unexpected end at position 3'],
  ['IF(status=paid, 0))', 'formula: unexpected ")" at position 19'],
  ['(1+2', 'formula: unexpected end instead of ")" at position 5'],
  ['1 2', 'formula: unexpected "2" at position 3'],
  ['12abc', 'formula: unexpected "abc" at position 3'],
  ['SUM(1;2)', 'formula: unexpected ";" at position 6'],
  ['a1:b2', 'formula: unexpected ":" at position 3'],
  ['1 + 😀', 'formula: unexpected "😀" at position 5'],
  ['"open', 'formula: no closing quote for the text at position 1'],
  ['1e400', 'formula: number "1e400" out of range at position 1'],
  ['totl*2', 'formula: unknown name "totl" at position 1; did you mean "total"?'],
  ['Total*2', 'formula: unknown name "Total" at position 1; did you mean "total"?'],
  ['qty=many', 'formula: unknown name "many" at position 5'],
  ['paid=open', 'formula: unknown name "paid" at position 1'],
  ['IF(status=paid, yes, 0)', 'formula: unknown name "yes" at position 17'],
  ['IF(status=payed, 1, 0)', 'formula: "payed" is not an option of status at position 11; did you mean "paid"?'],
  ['SWITCH(status, void, 1, 2)', 'formula: "void" is not an option of status at position 16'],
  ['1+SUMM(2)', 'formula: unknown function "SUMM" at position 3; did you mean "SUM"?'],
  ['__proto__', 'formula: unknown name "__proto__" at position 1'],
  ['constructor()', 'formula: unknown function "constructor" at position 1'],
  ['hasOwnProperty(1)', 'formula: unknown function "hasOwnProperty" at position 1'],
  ['ABS()', 'formula: ABS takes 1 argument, got 0 at position 1'],
  ['ABS(1, 2)', 'formula: ABS takes 1 argument, got 2 at position 1'],
  ['1 + round(1, 2, 3)', 'formula: ROUND takes 1 to 2 arguments, got 3 at position 5'],
  ['SUM()', 'formula: SUM takes 1 or more arguments, got 0 at position 1'],
  ['IFS(TRUE, 1, 2)', 'formula: IFS takes 2 or more arguments, in groups of 2, got 3 at position 1'],
  ['result + 1', 'formula: result reads itself: result → result'],
]

const fields = new Map([
  ...Object.entries(invoice).map(([key, [type, , options]]) => [key, { type, options }] as const),
  ['result', { type: 'number', options: undefined }] as const,
])

test('language: an invalid formula is refused with the reason and the position', (t) => {
  for (const [source, message] of refusals) {
    t.throws(() => compileFormula(source, { fields, target: { key: 'result' } }), { message, code: 'VALIDATION_ERROR' }, source)
  }
})

test('language: a formula lists each field that it reads once, also fields of branches that it may not take', (t) => {
  const source = 'IF(status=paid, total, 0) + IFERROR(qty, total) & name'
  t.deepEqual(compileFormula(source, { fields, target: { key: 'result' } }).dependencies, ['status', 'total', 'qty', 'name'])
  t.deepEqual(compileFormula('status=paid', { fields, target: { key: 'result' } }).dependencies, ['status'])
})

test('language: the bare word TRUE is text beside a field that has it as an option', (t) => {
  t.is(shown('answer=true', { answer: ['select', 'true', ['true', 'false', 'maybe']] }), 'TRUE')
  t.is(shown('answer=true', { answer: ['string', 'true'] }), 'FALSE')
})

test('language: a field takes precedence over TRUE and over a bare word of the same spelling', (t) => {
  t.is(shown('true', { true: ['number', '5'] }), '5')
  t.is(shown('status=paid', { status, paid: ['string', 'draft'] }), 'FALSE')
})
