import { isCurrencyCode } from '#shared/kernel/currency.ts'
import { problem } from '#shared/kernel/errors.ts'

/** Throws VALIDATION_ERROR for text that is no currency's code and, where the books hold any, none of theirs. */
export function requireCurrency(code: string, held: readonly string[] = []): void {
  if (isCurrencyCode(code) || held.includes(code)) return
  throw problem('VALIDATION_ERROR', `currency must be an ISO 4217 code such as EUR, got ${code.slice(0, 20)}`)
}
