import test from 'ava'
import fc from 'fast-check'
import { isEmptySide, parseAmount, readAmount, writeAmount } from '#shared/features/accounting/amount.ts'
import { accountName } from '#shared/features/accounting/export/formats.ts'
import { currencies } from '#shared/platform/kernel/values/currency.ts'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'
import { toJsonNumber } from '#shared/platform/kernel/values/json.ts'
import { seedOf } from '#test/core/policy/seed.ts'

const codes = [...currencies.keys()]
const units = fc.bigInt({ min: 0n, max: 9_223_372_036_853n })
const fraction = fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 6 })
const amountText = fc.tuple(units, fraction).map(([whole, digits]) => (digits === '' ? `${whole}` : `${whole}.${digits}`))

test('properties: a formatted amount parses to the same value, with the digits of its currency and no more than needed', (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.constantFrom(...codes), (amount, currency) => {
      const text = writeAmount(amount, currency)
      const digits = currencies.get(currency) ?? 0
      const [, shown = ''] = text.split('.')
      return (
        readAmount(text) === amount &&
        new Decimal(text).mul(1_000_000).eq(new Decimal(amount.toString())) &&
        shown.length >= digits &&
        (shown.length === digits || !shown.endsWith('0')) &&
        !(amount === 0n && text.startsWith('-'))
      )
    }),
    { seed: seedOf(t), numRuns: 2_000 },
  )
  t.pass()
})

test('properties: the text and the JSON number of an amount are equal, and agree with decimal.js', (t) => {
  fc.assert(
    fc.property(amountText, (text) => {
      if (new Decimal(text).isZero()) return isEmptySide(text) && isEmptySide(toJsonNumber(text))
      const expected = BigInt(new Decimal(text).mul(1_000_000).toFixed())
      return parseAmount(text, 'debit') === expected && parseAmount(toJsonNumber(text), 'debit') === expected && !isEmptySide(text)
    }),
    { seed: seedOf(t), numRuns: 2_000 },
  )
  t.pass()
})

test('properties: text that is not a plain decimal is refused', (t) => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.double().map(String), fc.stringMatching(/^[-+0-9.,eE_ ]{1,12}$/)), (text) => {
      const isPlain = /^[0-9]{1,13}(\.[0-9]{1,6})?$/.test(text) && !new Decimal(text).isZero() && new Decimal(text).lte('9223372036854')
      let isTaken = true
      try {
        parseAmount(text, 'debit')
      } catch {
        isTaken = false
      }
      return isTaken === isPlain
    }),
    { seed: seedOf(t), numRuns: 2_000 },
  )
  t.pass()
})

test('properties: two accounts never have the same name in an export, and beancount accepts every name', (t) => {
  const kind = fc.constantFrom('asset', 'liability', 'equity', 'revenue', 'expense', null)
  const account = fc.record({
    id: fc.uuid(),
    code: fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[XZU0-9a-f: -]{0,8}$/)),
    kind,
  })
  fc.assert(
    fc.property(account, account, (one, other) => {
      const [name, otherName] = [one, other].map((each) => accountName({ ...each, name: '', isReadable: true }))
      const same = one.kind === other.kind && one.code === other.code && (one.code !== '' || one.id === other.id)
      return (name === otherName) === same && /^(Assets|Liabilities|Equity|Income|Expenses)(:[A-Z0-9][A-Za-z0-9-]*)+$/.test(name ?? '')
    }),
    { seed: seedOf(t), numRuns: 2_000 },
  )
  t.pass()
})
