import test from 'ava'
import { currencies, currencyDigits, isCurrencyCode } from '#shared/platform/kernel/values/currency.ts'

test('currency: the table holds the 178 current codes, each once and of three capitals', (t) => {
  t.is(currencies.size, 178)
  for (const code of currencies.keys()) t.regex(code, /^[A-Z]{3}$/)
})

test('currency: the table has the digits of the standard', (t) => {
  const digits = {
    EUR: 2,
    USD: 2,
    JPY: 0,
    KRW: 0,
    UGX: 0,
    KWD: 3,
    BHD: 3,
    TND: 3,
    CLF: 4,
    UYW: 4,
    MGA: 2,
    MRU: 2,
    IDR: 2,
    COP: 2,
    HUF: 2,
    IQD: 3,
    LBP: 2,
    XAU: 0,
  }
  for (const [code, expected] of Object.entries(digits)) t.is(currencyDigits(code), expected, code)
})

test('currency: recent codes are included and withdrawn codes are not', (t) => {
  for (const code of ['XCG', 'XAD', 'ZWG', 'SLE', 'VED']) t.true(isCurrencyCode(code), code)
  for (const code of ['HRK', 'ANG', 'BGN', 'CUC', 'SLL', 'ZWL', 'DEM', 'BTC', 'eur', ' EUR', 'EU', '', 'constructor'])
    t.false(isCurrencyCode(code), code)
})

test('currency: every code of Intl is included except the withdrawn ones', (t) => {
  const withdrawn = new Set(['ANG', 'BGN', 'CUC', 'HRK', 'SLL', 'ZWL'])
  t.deepEqual(
    Intl.supportedValuesOf('currency').filter((code) => !isCurrencyCode(code) && !withdrawn.has(code)),
    [],
  )
})
