import { readFileSync } from 'node:fs'
import test from 'ava'
import { serialOf } from '#shared/platform/formula/values/dates.ts'
import { isError, isMoment, type Value } from '#shared/platform/formula/values/value.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'
import { evaluate, type Given } from './evaluate.ts'

type Scalar = number | string | boolean | null

/** A case of the fixture; `expected` is missing when only the displayed text is known. */
interface Case {
  readonly n: number
  readonly formula: string
  readonly fields: Readonly<Record<string, Scalar>>
  readonly expected?: Scalar | { readonly error: string }
  readonly expected_text?: string
  readonly confirmed: boolean
}

const file = new URL('../../fixtures/formula/formula-cases.json', import.meta.url)
const { cases }: { cases: Case[] } = JSON.parse(readFileSync(file, 'utf8'))

/** Confirmed cases with another result in Kontor, and the reason. Nothing else may differ. */
const differences: Readonly<Record<number, string>> = {
  32: 'IFS with a condition and no value is refused on save',
  33: 'IFNA with three arguments is refused on save',
  135: 'CEILING.MATH rounds towards zero without a mode, as Microsoft documents it; the upstream engine goes away from zero',
  159: 'MROUND(6.05, 0.1) is 6.1 in decimals; 6 is a binary float',
  204: 'ISREF asks about cells, and a record has none',
  205: 'ISREF asks about cells, and a record has none',
}

/** Binary floats of the source have some 15 digits, and its printed results nine. */
const tolerance = 1e-8

function given(value: Scalar): Given {
  if (typeof value === 'number') return ['number', String(value)]
  return typeof value === 'boolean' ? ['bool', value] : ['string', value]
}

/** The result of a formula in the fixture's terms: dates are serial numbers, and a refusal is #ERROR!. */
function answer({ formula, fields }: Case): Scalar | { error: string } {
  try {
    return plain(evaluate(formula, Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, given(value)]))))
  } catch (error) {
    if (error instanceof Problem && error.code === 'VALIDATION_ERROR') return { error: '#ERROR!' }
    throw error
  }
}

function plain(value: Value): Scalar | { error: string } {
  if (isError(value)) return { error: value.code }
  if (isMoment(value)) return serialOf(value).toNumber()
  return value instanceof Decimal ? value.toNumber() : (value as Scalar)
}

function agrees(answered: Scalar | { error: string }, { expected, expected_text: text }: Case): boolean {
  const wanted = expected === undefined ? displayed(text ?? '', answered) : expected
  if (typeof wanted === 'number' && typeof answered === 'number') {
    return Math.abs(answered - wanted) <= tolerance * Math.max(1, Math.abs(wanted))
  }
  return JSON.stringify(answered) === JSON.stringify(wanted)
}

function displayed(text: string, answered: Scalar | { error: string }): Scalar {
  if (typeof answered === 'boolean') return text === 'TRUE'
  return typeof answered === 'number' ? Number(text) : text
}

test('cases: every confirmed case of the spreadsheet suites gives its value, except the listed differences', (t) => {
  const confirmed = cases.filter((each) => each.confirmed)
  const differing = confirmed.filter((each) => !agrees(answer(each), each)).map(({ n }) => n)
  t.is(confirmed.length, 571)
  t.deepEqual(differing, Object.keys(differences).map(Number))
})

test('cases: no case of the suites crashes the evaluator', (t) => {
  for (const each of cases) t.notThrows(() => answer(each), each.formula)
})
