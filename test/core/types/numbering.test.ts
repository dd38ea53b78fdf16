import test from 'ava'
import { parseNumbering } from '#shared/core/types/numbering/numbering-pattern.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'

const at = new Date('2026-03-07T23:59:59.999Z')

const formats: readonly (readonly [pattern: string, number: number, text: string])[] = [
  ['{seq}', 1, '1'],
  ['{seq}', 1_234_567, '1234567'],
  ['{seq:1}', 7, '7'],
  ['{seq:5}', 7, '00007'],
  ['{seq:5}', 99_999, '99999'],
  ['{seq:5}', 100_000, '100000'],
  ['{seq:10}', 1, '0000000001'],
  ['{seq:10}', 1e15, '1000000000000000'],
  ['INV-{seq:3}', 42, 'INV-042'],
  ['{yyyy}{yy}{mm}{dd}/{seq}', 1, '2026260307/1'],
  ['{seq} of {dd}.{mm}.{yyyy}, {dd}', 3, '3 of 07.03.2026, 07'],
  ['{yyyy}-{seq:4:yearly}', 1, '2026-0001'],
  ['{yy}{seq:4:yearly}', 1, '260001'],
  ['{mm}/{yyyy}/{seq:2:monthly}', 1, '03/2026/01'],
  ['{dd}{mm}{yy}-{seq:1:daily}', 1, '070326-1'],
  ['Ä😀 $& \\1 {seq}', 1, 'Ä😀 $& \\1 1'],
  [`${'x'.repeat(95)}{seq}`, 1, `${'x'.repeat(95)}1`],
  [`${'😀'.repeat(95)}{seq}`, 1, `${'😀'.repeat(95)}1`],
]
for (const [pattern, number, text] of formats) {
  test(`numbering: ${pattern} makes ${text} of ${number}`, (t) => {
    t.is(parseNumbering(pattern).format(number, at), text)
  })
}

const wrong: readonly (readonly [pattern: string, message: RegExp])[] = [
  ['', /exactly one \{seq\} token, got 0/],
  ['INV-', /exactly one \{seq\} token, got 0/],
  ['{yyyy}', /exactly one \{seq\} token, got 0/],
  ['seq', /exactly one \{seq\} token, got 0/],
  ['{seq}{seq}', /exactly one \{seq\} token, got 2/],
  ['{seq}-{seq:3}-{seq:4}', /exactly one \{seq\} token, got 3/],
  ['{seq:0}', /digits must be 1 to 10/],
  ['{seq:11}', /digits must be 1 to 10/],
  ['{seq:99999999999999999999}', /digits must be 1 to 10/],
  ['{seq:01}', /\{seq:01\} is no token/],
  ['{seq:-1}', /\{seq:-1\} is no token/],
  ['{seq:1.5}', /is no token/],
  ['{seq:}', /is no token/],
  ['{seq:yearly}', /is no token/],
  ['{seq:4:}', /is no token/],
  ['{yyyy}{seq:4:yearly:2}', /is no token/],
  ['{yyyy}{seq:4:hourly}', /period must be daily, monthly, yearly/],
  ['{yyyy}{seq:4:constructor}', /period must be/],
  ['{yyyy}{seq:4:Yearly}', /is no token/],
  ['{SEQ}', /is no token/],
  ['{ seq }', /is no token/],
  ['{}{seq}', /\{\} is no token/],
  ['{hh}{seq}', /\{hh\} is no token/],
  ['{constructor}{seq}', /is no token/],
  ['{{seq}}', /has a \{ that belongs to no token/],
  ['{seq', /has a \{/],
  ['seq}{seq}', /has a \}/],
  ['{seq:4:yearly}', /must include \{yyyy\} or \{yy\}/],
  ['{mm}{dd}{seq:4:yearly}', /must include \{yyyy\} or \{yy\}/],
  ['{yyyy}{seq:4:monthly}', /must include \{mm\}/],
  ['{mm}{seq:4:monthly}', /must include \{yyyy\} or \{yy\}/],
  ['{yyyy}{mm}{seq:4:daily}', /must include \{dd\}/],
  ['{yy}{dd}{seq:4:daily}', /must include \{mm\}/],
  [`${'x'.repeat(96)}{seq}`, /at most 100 characters/],
]
for (const [pattern, message] of wrong) {
  test(`numbering: refused: ${pattern.length > 60 ? `${pattern.length} characters` : pattern || 'nothing'}`, (t) => {
    const error = t.throws(() => parseNumbering(pattern), { instanceOf: Problem, message })
    t.is(error?.code, 'VALIDATION_ERROR')
    t.regex(error?.message ?? '', /^pattern /)
  })
}

const periods: readonly (readonly [pattern: string, one: string, other: string, same: boolean])[] = [
  ['{seq}', '2026-01-01T00:00:00Z', '2027-06-01T00:00:00Z', true],
  ['{yyyy}{mm}{dd}{seq:4}', '2026-01-01T00:00:00Z', '2027-06-01T00:00:00Z', true],
  ['{yyyy}{seq:4:yearly}', '2026-01-01T00:00:00Z', '2026-12-31T23:59:59.999Z', true],
  ['{yyyy}{seq:4:yearly}', '2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00Z', false],
  ['{yy}{mm}{seq:4:monthly}', '2026-02-01T00:00:00Z', '2026-02-28T23:59:59.999Z', true],
  ['{yy}{mm}{seq:4:monthly}', '2026-02-28T23:59:59.999Z', '2026-03-01T00:00:00Z', false],
  ['{yy}{mm}{seq:4:monthly}', '2026-02-01T00:00:00Z', '2027-02-01T00:00:00Z', false],
  ['{yy}{mm}{dd}{seq:4:daily}', '2026-02-01T00:00:00Z', '2026-02-01T23:59:59.999Z', true],
  ['{yy}{mm}{dd}{seq:4:daily}', '2026-02-01T23:59:59.999Z', '2026-02-02T00:00:00Z', false],
  ['{yy}{mm}{dd}{seq:4:daily}', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z', false],
]
for (const [pattern, one, other, same] of periods) {
  test(`numbering: ${pattern} ${same ? 'counts on' : 'restarts'} from ${one} to ${other}`, (t) => {
    const { periodOf } = parseNumbering(pattern)
    t.is(periodOf(new Date(one)) === periodOf(new Date(other)), same)
  })
}
