import { sections } from '#api/routes.ts'
import { blockKinds } from '#shared/features/flows/blocks.ts'
import { eventFamilies, jobs, sdkMethods } from '#shared/features.ts'
import { errorTable } from '../errors-page.ts'
import { appTable } from './apps.ts'
import { eventTypeTable } from './event-types.ts'
import { builtinTypeTable, fieldKindTable, operatorTable, ruleTable } from './field-tables.ts'
import { flowBlockTables } from './flow-blocks.ts'
import { formulaFunctionTable } from './formula-functions.ts'
import { jobKindTable } from './job-kinds.ts'
import { limitSettingTable } from './limit-settings.ts'
import { permissionTable } from './permissions.ts'
import { sdkMethodTable } from './sdk-methods.ts'

/** Makes all tables of docs/contract from the code, by the names of their markers. */
export function makeContractTables(): ReadonlyMap<string, string> {
  const routes = sections.flatMap(({ routes }) => routes)
  return new Map([
    ['permissions', permissionTable(routes)],
    ['apps', appTable(routes)],
    ['error-codes', errorTable(routes)],
    ['built-in-types', builtinTypeTable()],
    ['field-kinds', fieldKindTable()],
    ['field-rules', ruleTable()],
    ['filter-operators', operatorTable()],
    ['formula-functions', formulaFunctionTable()],
    ['sdk-methods', sdkMethodTable(sdkMethods)],
    ['flow-blocks', flowBlockTables(blockKinds)],
    ['event-types', eventTypeTable(eventFamilies)],
    ['job-kinds', jobKindTable(sections, jobs)],
    ['limit-settings', limitSettingTable()],
  ])
}
