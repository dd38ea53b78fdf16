import { dateFunctions } from './date.ts'
import { dateSpanFunctions } from './date-span.ts'
import type { FormulaFunction, FunctionTable } from './definition.ts'
import { informationFunctions } from './information.ts'
import { logicFunctions } from './logic.ts'
import { mathFunctions } from './math.ts'
import { roundingFunctions } from './rounding.ts'
import { statisticsFunctions } from './statistics.ts'
import { textFunctions } from './text.ts'
import { textNumberFunctions } from './text-number.ts'
import { textSearchFunctions } from './text-search.ts'
import { workdayFunctions } from './workdays.ts'

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
