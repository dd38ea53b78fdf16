import { problem } from '#shared/platform/kernel/errors.ts'
import { isCurrencyCode } from '#shared/platform/kernel/values/currency.ts'

/** Throws VALIDATION_ERROR unless the code is in ISO 4217 or among the currencies that the ledger already uses. */
export function requireCurrency(code: string, usedCurrencies: readonly string[] = []): void {
  if (isCurrencyCode(code) || usedCurrencies.includes(code)) return
  throw problem('VALIDATION_ERROR', `currency must be an ISO 4217 code such as EUR, got ${code.slice(0, 20)}`)
}
