import { functionCatalogue } from '#shared/platform/formula/functions/catalogue.ts'
import { code, markdownTable } from './markdown-table.ts'

/** All functions of formulas. */
export const formulaFunctionTable = (): string =>
  markdownTable(
    ['Function', 'Group', 'Result'],
    functionCatalogue.map(({ usage, family, doc }) => [code(usage), family, doc]),
  )
