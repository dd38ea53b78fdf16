import { problem } from '#shared/platform/kernel/errors.ts'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'

/** How a provider counts money of a currency: in units with `digits` fraction digits, in multiples of `step` units. */
interface UnitRule {
  readonly digits: number
  readonly step: number
}

/** A provider's unit rules by currency; they differ from ISO 4217. */
export interface UnitTable {
  readonly provider: string
  readonly ruleOf: (currency: string) => UnitRule
}

const hundredths: UnitRule = { digits: 2, step: 1 }

/**
 * Builds a unit table. `exceptions` lists the codes of currencies that are not counted in hundredths, separated by blanks, with their rule.
 */
export function unitTable(provider: string, exceptions: readonly (readonly [string, UnitRule])[]): UnitTable {
  const rules = new Map(exceptions.flatMap(([codes, rule]) => codes.split(' ').map((code) => [code, rule] as const)))
  return { provider, ruleOf: (currency) => rules.get(currency) ?? hundredths }
}

/**
 * Converts an amount to a provider's units, as whole-number text. Throws VALIDATION_ERROR naming the rule for an amount that the provider
 * does not accept in that currency, such as 1.5 JPY (decisions, Payments).
 */
export function toProviderUnits({ provider, ruleOf }: UnitTable, amount: string, currency: string): string {
  const { digits, step } = ruleOf(currency)
  const units = new Decimal(amount).times(new Decimal(10).pow(digits))
  if (units.mod(step).isZero()) return units.toFixed(0)
  const smallestAmount = new Decimal(step).div(new Decimal(10).pow(digits)).toFixed()
  throw problem('VALIDATION_ERROR', `amount: ${provider} takes ${currency} in multiples of ${smallestAmount}, got ${amount}`)
}

/** Converts a provider's whole number of units to decimal text. */
export const fromProviderUnits = ({ ruleOf }: UnitTable, units: number | string, currency: string): string =>
  new Decimal(units).div(new Decimal(10).pow(ruleOf(currency).digits)).toFixed()
