import type { KnownReferences } from '#shared/core/automation/block.ts'
import { refusalsOf } from '#shared/core/automation/setting-problems.ts'
import { hasReference } from '#shared/core/automation/template.ts'
import { requireFilter } from '#shared/core/records/query/filter.ts'
import {
  type Condition,
  conditionTarget,
  type Filter,
  partsOf,
  readFilterTree,
  requireNamedField,
} from '#shared/core/records/query/filter-tree.ts'
import { readSearch } from '#shared/core/records/query/read-search.ts'
import { t } from '#shared/platform/kernel/schema.ts'

type Config = Readonly<Record<string, unknown>>

/** The setting of a filter that may be filled in at run time. */
export const filterSetting = (description: string) =>
  t.Optional(t.Union([t.String(), t.Array(t.Unknown()), t.Record(t.String(), t.Unknown())], { description }))

/**
 * Problems of a filter that is judged on one record, as a trigger's: what a list would refuse of the flow's editor. It cannot hold
 * references, since nothing has run before it.
 */
export function filterProblems({ object_type, filter }: Config, { testedTypes }: KnownReferences): string[] {
  if (filter === undefined) return []
  if (hasReference(filter)) return ['filter must hold no references: nothing has run before the trigger']
  return refusalsOf(() => {
    const tested = testedTypes.get(object_type as string)
    const read = readFilterTree(filter)
    if (tested) requireFilter(tested.type, tested.hideable, read, 'filter')
  })
}

/** Problems of a filter that a search gets at run time. What holds a reference, and fields behind a step along a reference, are not judged. */
export function fillingFilterProblems({ object_type, filter }: Config, { testedTypes }: KnownReferences): string[] {
  if (filter === undefined || (typeof filter === 'string' && hasReference(filter))) return []
  const tested = testedTypes.get(object_type as string)
  const problems: string[] = []
  const unread = refusalsOf(() => {
    for (const { condition, path } of conditionsOf(readFilterTree(filter), 'filter')) {
      const { field, op, value } = condition
      if (!tested || hasReference(field) || hasReference(op)) continue
      const { type, hideable } = tested
      const [own = '', step] = field.split('.')
      problems.push(
        ...refusalsOf(() => {
          if (step !== undefined) requireNamedField(type, hideable, own, `${path}.field`)
          else if (hasReference(value)) conditionTarget(type, hideable, field, `${path}.field`)
          else requireFilter(type, hideable, condition, path)
        }),
      )
    }
  })
  // A part of the filter may be filled in, too.
  return hasReference(filter) ? problems : [...unread, ...problems]
}

/** Problems of the order of a search: a key that is no field, a direction that is none. */
export function orderProblems({ object_type, sort, dir }: Config, { testedTypes }: KnownReferences): string[] {
  if (hasReference(sort) || hasReference(dir)) return []
  const tested = testedTypes.get(object_type as string)
  return refusalsOf(() => {
    const { sort: keys = [] } = readSearch({ sort: sort as string | undefined, dir: dir as string | undefined })
    for (const { field } of keys) if (tested && field !== 'created_at') requireNamedField(tested.type, tested.hideable, field, 'sort')
  })
}

/** Problems of `fields` of a trigger: keys that are no fields which the flow's editor may read. */
export function watchedFieldProblems({ object_type, fields }: Config, { testedTypes }: KnownReferences): string[] {
  const tested = testedTypes.get(object_type as string)
  if (!tested || fields === undefined) return []
  return (fields as readonly string[]).flatMap((key) => refusalsOf(() => requireNamedField(tested.type, tested.hideable, key, 'fields')))
}

/** Whether a search's filter tests fields of the records themselves alone; false where that is known only at run time. */
export function testsOwnFields(filter: unknown): boolean {
  if (filter === undefined) return true
  if (typeof filter === 'string' && hasReference(filter)) return false
  try {
    return conditionsOf(readFilterTree(filter), '').every(({ condition: { field } }) => !field.includes('.') && !hasReference(field))
  } catch {
    return false
  }
}

function conditionsOf(filter: Filter, path: string): { readonly condition: Condition; readonly path: string }[] {
  const parts = partsOf(filter, path)
  return parts ? parts.filters.flatMap((part) => conditionsOf(part.filter, part.path)) : [{ condition: filter as Condition, path }]
}
