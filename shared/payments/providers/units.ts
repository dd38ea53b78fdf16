import { Decimal } from '#shared/kernel/decimal.ts'
import { problem } from '#shared/kernel/errors.ts'

/** How a provider counts the money of a currency: in units of so many digits, of which it takes multiples of `step`. */
export interface UnitRule {
  readonly digits: number
  readonly step: number
}

/** The rules of a provider by currency. They are the provider's own, not those of ISO 4217. */
export interface UnitTable {
  readonly provider: string
  readonly ruleOf: (currency: string) => UnitRule
}

const cents: UnitRule = { digits: 2, step: 1 }

/** A table of the currencies that are not counted in hundredths, as lists of codes by their rule. */
export function unitTable(provider: string, exceptions: readonly (readonly [string, UnitRule])[]): UnitTable {
  const rules = new Map(exceptions.flatMap(([codes, rule]) => codes.split(' ').map((code) => [code, rule] as const)))
  return { provider, ruleOf: (currency) => rules.get(currency) ?? cents }
}

/**
 * An amount in a provider's units, as whole-number text. Throws VALIDATION_ERROR naming the rule for an amount that the provider cannot
 * take in that currency, such as 1.5 JPY (decisions, Payments).
 */
export function unitsOf({ provider, ruleOf }: UnitTable, amount: string, currency: string): string {
  const { digits, step } = ruleOf(currency)
  const units = new Decimal(amount).times(new Decimal(10).pow(digits))
  if (units.mod(step).isZero()) return units.toFixed(0)
  const least = new Decimal(step).div(new Decimal(10).pow(digits)).toFixed()
  throw problem('VALIDATION_ERROR', `amount: ${provider} takes ${currency} in multiples of ${least}, got ${amount}`)
}

/** The decimal text of so many units, which a provider gives as a whole number. */
export const amountOfUnits = ({ ruleOf }: UnitTable, units: number | string, currency: string): string =>
  new Decimal(units).div(new Decimal(10).pow(ruleOf(currency).digits)).toFixed()
