import { dateFunctions } from '#shared/platform/formula/functions/date.ts'
import { dateSpanFunctions } from '#shared/platform/formula/functions/date-span.ts'
import type { FormulaFunction, FunctionTable } from '#shared/platform/formula/functions/definition.ts'
import { informationFunctions } from '#shared/platform/formula/functions/information.ts'
import { logicFunctions } from '#shared/platform/formula/functions/logic.ts'
import { mathFunctions } from '#shared/platform/formula/functions/math.ts'
import { roundingFunctions } from '#shared/platform/formula/functions/rounding.ts'
import { statisticsFunctions } from '#shared/platform/formula/functions/statistics.ts'
import { textFunctions } from '#shared/platform/formula/functions/text.ts'
import { textNumberFunctions } from '#shared/platform/formula/functions/text-number.ts'
import { textSearchFunctions } from '#shared/platform/formula/functions/text-search.ts'
import { workdayFunctions } from '#shared/platform/formula/functions/workdays.ts'

const families: readonly (readonly [family: string, table: FunctionTable])[] = [
  ['logic', logicFunctions],
  ['information', informationFunctions],
  ['math', mathFunctions],
  ['rounding', roundingFunctions],
  ['statistics', statisticsFunctions],
  ['text', textFunctions],
  ['text', textSearchFunctions],
  ['text', textNumberFunctions],
  ['date', dateFunctions],
  ['date', dateSpanFunctions],
  ['date', workdayFunctions],
]

/** All formula functions by upper-case name. A Map, so that no name reaches an object's prototype. */
export const formulaFunctions: ReadonlyMap<string, FormulaFunction> = new Map(families.flatMap(([, table]) => Object.entries(table)))

/** The reference of all functions. A usage is such as `ROUND(number, [digits])`; `…` marks a repeatable argument. */
export const functionCatalogue = families.flatMap(([family, table]) =>
  Object.entries(table).map(([name, { usage, doc }]) => ({ name, family, usage: `${name}(${usage.join(', ')})`, doc })),
)
