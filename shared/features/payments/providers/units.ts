import { problem } from '#shared/platform/kernel/errors.ts'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'

/** How a provider counts a currency: one unit is 10^-`digits` of it, and an amount must be a multiple of `step` units. */
interface UnitRule {
  readonly digits: number
  readonly step: number
}

/** A provider's unit rules by currency; some differ from ISO 4217. */
export interface UnitTable {
  readonly provider: string
  readonly ruleOf: (currency: string) => UnitRule
  /** The largest number of units; undefined for no limit. */
  readonly maxUnits?: number
}

const hundredths: UnitRule = { digits: 2, step: 1 }

/**
 * Builds the unit table of a provider whose units are JSON numbers, which are exact up to 2^53 - 1. Each exception is a list of currency
 * codes, separated by blanks, and their rule; all others count in hundredths.
 */
export function createUnitTable(provider: string, exceptions: readonly (readonly [string, UnitRule])[]): UnitTable {
  const rules = new Map(exceptions.flatMap(([codes, rule]) => codes.split(' ').map((code) => [code, rule] as const)))
  return { provider, ruleOf: (currency) => rules.get(currency) ?? hundredths, maxUnits: Number.MAX_SAFE_INTEGER }
}

/**
 * Converts an amount to a provider's units, as text of a whole number. Throws VALIDATION_ERROR for an amount that the provider does not
 * accept in that currency, such as 1.5 JPY (docs/contract/payments.md#providers); its message names the smallest step or the largest
 * amount.
 */
export function toProviderUnits({ provider, ruleOf, maxUnits }: UnitTable, amount: string, currency: string): string {
  const { digits, step } = ruleOf(currency)
  const units = new Decimal(amount).times(new Decimal(10).pow(digits))
  const textOf = (units: number) => new Decimal(units).div(new Decimal(10).pow(digits)).toFixed()
  if (!units.mod(step).isZero()) {
    throw problem('VALIDATION_ERROR', `amount: ${provider} takes ${currency} in multiples of ${textOf(step)}, got ${amount}`)
  }
  if (maxUnits !== undefined && units.gt(maxUnits)) {
    throw problem('VALIDATION_ERROR', `amount: ${provider} takes at most ${textOf(maxUnits)} ${currency}, got ${amount}`)
  }
  return units.toFixed(0)
}

/** Converts a provider's whole number of units to decimal text. */
export const fromProviderUnits = ({ ruleOf }: UnitTable, units: number | string, currency: string): string =>
  new Decimal(units).div(new Decimal(10).pow(ruleOf(currency).digits)).toFixed()
