import { defineBlock, numberSetting, readNumberSetting, textSetting } from '#shared/core/automation/block.ts'
import { typeProblems, valueProblems } from '#shared/core/automation/setting-problems.ts'
import { hasReference, readFilledTexts, toText } from '#shared/core/automation/template.ts'
import { fillingFilterProblems, filterSetting, orderProblems, writtenFilter } from '#shared/core/records/blocks/tested-fields.ts'
import { type Condition, conditionsOf, type Filter, partsOf, readFilterTree } from '#shared/core/records/query/filter-tree.ts'
import { listOrSearch } from '#shared/core/records/query/list-or-search.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import { requireRecordType } from '#shared/core/types/record-type.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { t } from '#shared/platform/kernel/schema.ts'

const [maxRecords, defaultRecords] = [100, 50]

export const findRecordsBlock = defineBlock({
  type: 'action.find_records',
  label: 'Find records',
  description: 'Finds records of a type by a filter, as a list of records does.',
  settings: {
    object_type: textSetting('Key of the record type.'),
    filter: filterSetting('A filter of a list, or its JSON text; without it every record matches. Its values may hold references.'),
    sort: textSetting('A field key or created_at, or several separated by commas; default: created_at.'),
    dir: textSetting('asc or desc, for all keys of sort or one for each, separated by commas; default: desc.'),
    limit: numberSetting(`The most records to find, 1 to ${maxRecords}; default: ${defaultRecords}.`),
  },
  required: ['object_type'],
  problems: (config, around) => [
    ...typeProblems(config.object_type, around),
    ...fillingFilterProblems(config, around),
    ...orderProblems(config, around),
    ...valueProblems(config, { limit: readLimit }),
  ],
  handles: ['out'],
  output: { records: t.Array(t.Unknown()), count: t.Integer() },
  shown: 'records',
  app: null,
  work: {
    acts: async ({ node, render }, scope) => {
      const settings = render({ ...node.config, filter: writtenFilter(node.config.filter) }) as typeof node.config
      const type = await requireRecordType(scope, toText(settings.object_type).trim())
      requirePermission(scope, 'records:read', type.key)
      const { sort, dir, limit = '' } = readFilledTexts(settings)
      const filter = filledFilter(node.config.filter, settings.filter)
      const { records } = await listOrSearch(scope, type.key, { filter, sort, dir, limit: readLimit(limit, 'limit') ?? defaultRecords })
      return { records, count: records.length }
    },
  },
})

/**
 * The filter of a search, once its references are replaced. Throws VALIDATION_ERROR where they leave nothing of it, no condition in it, or
 * nothing of the text that a condition looks for: each would find every record.
 */
function filledFilter(written: unknown, filled: unknown): Filter {
  if (isBlank(written)) return []
  if (isBlank(filled)) throw problem('VALIDATION_ERROR', `filter ${isEmptied}`)
  const filter = withTextValues(readFilterTree(filled))
  const conditions = conditionsOf(filter)
  if (conditions.length === 0 && holdsAlone(filter) && hasReference(written)) throw problem('VALIDATION_ERROR', `filter ${isEmptied}`)
  const emptied = conditions.find(({ op = 'contains', value }) => value === '' && (op === 'contains' || op === 'starts_with'))
  if (emptied && hasReference(written)) throw problem('VALIDATION_ERROR', `filter: the value for ${emptied.field} ${isEmptied}`)
  return filter
}

const isEmptied = 'is empty once its references are replaced'
const isBlank = (filter: unknown): boolean => filter == null || (typeof filter === 'string' && filter.trim() === '')

/** Whether a filter without conditions holds. */
function holdsAlone(filter: Filter): boolean {
  const { joinedBy, filters = [] } = partsOf(filter, '') ?? {}
  const holds = (part: { readonly filter: Filter }) => holdsAlone(part.filter)
  if (joinedBy === 'not') return !filters.every(holds)
  return joinedBy === 'or' ? filters.some(holds) : filters.every(holds)
}

/** Reads the number of records; undefined when blank. Throws VALIDATION_ERROR naming the setting. */
function readLimit(text: string, name: string): number | undefined {
  const limit = readNumberSetting(text, name)
  if (limit === undefined || (Number.isInteger(limit) && limit >= 1 && limit <= maxRecords)) return limit
  throw problem('VALIDATION_ERROR', `${name} must be a whole number from 1 to ${maxRecords}, got ${text.slice(0, 100)}`)
}

/** The filter with values as text, as conditions take them: a value that is one reference has the type of what it refers to. */
function withTextValues(filter: Filter): Filter {
  if (isList(filter)) return filter.map(withTextValues)
  if ('all' in filter) return { all: filter.all.map(withTextValues) }
  if ('any' in filter) return { any: filter.any.map(withTextValues) }
  if ('not' in filter) return { not: withTextValues(filter.not) }
  const { value, ...condition } = filter as Condition
  return value === undefined ? condition : { ...condition, value: Array.isArray(value) ? value.map(toText) : toText(value) }
}

const isList = (filter: Filter): filter is readonly Filter[] => Array.isArray(filter)
