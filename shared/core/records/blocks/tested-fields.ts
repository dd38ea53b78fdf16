import type { KnownReferences, TestedType } from '#shared/core/automation/block.ts'
import { refusalsOf } from '#shared/core/automation/setting-problems.ts'
import { hasReference, pathsIn } from '#shared/core/automation/template.ts'
import { requireFilter } from '#shared/core/records/query/filter.ts'
import {
  type Condition,
  conditionsOf,
  conditionTarget,
  type Filter,
  filterForm,
  placedConditionsOf,
  readFilterJson,
  readFilterTree,
  requireNamedField,
  stepOf,
} from '#shared/core/records/query/filter-tree.ts'
import { readSearch } from '#shared/core/records/query/read-search.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { t } from '#shared/platform/kernel/schema.ts'
import { hasParts } from '#shared/platform/kernel/values/json-walk.ts'

type Config = Readonly<Record<string, unknown>>

/** The setting of a filter that may be filled in at run time. */
export const filterSetting = (description: string) =>
  t.Optional(
    t.Union([t.String(), t.Array(t.Unknown()), t.Record(t.String(), t.Unknown())], {
      description,
      'x-hint': `${filterForm}, or its JSON text`,
    }),
  )

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

/**
 * Problems of a filter that is judged on records of any type: a record matches where the filter fits its type, so it must fit one that the
 * flow's editor may read. `testedTypes` are all types.
 */
export function anyTypeFilterProblems(filter: unknown, { testedTypes }: KnownReferences): string[] {
  if (filter === undefined) return []
  if (hasReference(filter)) return ['filter must hold no references: nothing has run before the trigger']
  return refusalsOf(() => {
    const read = readFilterTree(filter)
    const types = [...testedTypes.values()].filter(({ isReadable }) => isReadable)
    const refusedBy = ({ type, hideable }: TestedType, part: Filter, path: string) =>
      refusalsOf(() => requireFilter(type, hideable, part, path))
    const fitsOne = (part: Filter, path: string) => types.some((one) => refusedBy(one, part, path).length === 0)
    if (fitsOne(read, 'filter')) return
    const conditions = placedConditionsOf(read, 'filter')
    const wrong = conditions.find(({ condition, path }) => !fitsOne(condition, path))
    // A type with the fields says what is wrong with an operator or a value.
    const whole = types.find((one) => conditions.every(({ condition }) => hasField(one, condition)))
    const naming = whole ?? types.find((one) => wrong && hasField(one, wrong.condition))
    if (naming) {
      const [refusal] = whole || !wrong ? refusedBy(naming, read, 'filter') : refusedBy(naming, wrong.condition, wrong.path)
      throw problem('VALIDATION_ERROR', `${refusal} (in ${naming.type.key})`)
    }
    if (!wrong) throw problem('VALIDATION_ERROR', 'filter must fit one record type; no type that you may read has all of its fields')
    const { condition, path } = wrong
    throw problem(
      'VALIDATION_ERROR',
      `${path} must be a condition that fits a field of a record type itself, which you may read in every record, got ${condition.field}`,
    )
  })
}

/** Whether a condition names a field of the type itself that no rule could hide, or a property of every record. */
const hasField = ({ type, hideable }: TestedType, { field }: Condition): boolean =>
  stepOf(field) === undefined && refusalsOf(() => conditionTarget(type, hideable, field, field)).length === 0

/**
 * The filter of a search as a value whose references are replaced afterwards: what they give never becomes a part of JSON text. A text that is
 * blank or one reference stays as it is. Throws VALIDATION_ERROR for another text that is no JSON as it is written, and for references that
 * its escapes hide from those who look for them in the text.
 */
export function writtenFilter(filter: unknown): unknown {
  if (typeof filter !== 'string' || filter.trim() === '' || isOneReference(filter)) return filter
  const read = readFilterJson(filter)
  if (!hasParts(read)) throw problem('VALIDATION_ERROR', `filter must be ${filterForm}`)
  if (JSON.stringify([...pathsIn(read)]) === JSON.stringify([...pathsIn(filter)])) return read
  throw problem('VALIDATION_ERROR', 'filter must hold references in its values alone, without escapes')
}

const isOneReference = (filter: unknown): boolean => typeof filter === 'string' && /^\s*\{\{[^{}]+\}\}\s*$/.test(filter)

/** Problems of a filter that a search gets at run time. What holds a reference, and fields behind a step along a reference, are not judged. */
export function fillingFilterProblems({ object_type, filter }: Config, { testedTypes }: KnownReferences): string[] {
  if (filter === undefined || isOneReference(filter)) return []
  const unwritten = refusalsOf(() => writtenFilter(filter))
  if (unwritten.length > 0) return unwritten
  const tested = testedTypes.get(object_type as string)
  const problems: string[] = []
  const unread = refusalsOf(() => {
    for (const { condition, path } of placedConditionsOf(readFilterTree(writtenFilter(filter)), 'filter')) {
      const { field, op, value } = condition
      if (!tested || hasReference(field) || hasReference(op)) continue
      const { type, hideable } = tested
      const step = stepOf(field)
      problems.push(
        ...refusalsOf(() => {
          if (step) requireNamedField(type, hideable, step[0], `${path}.field`)
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
  if (fields === undefined) return []
  const keys = readWatchedFields(fields)
  if (!keys) return ['fields must be a list of field keys']
  const tested = testedTypes.get(object_type as string)
  if (!tested) return []
  return keys.flatMap((key) => refusalsOf(() => requireNamedField(tested.type, tested.hideable, key, 'fields')))
}

/** The field keys of `fields` of a trigger; undefined for what is no list of texts, as an earlier release may have stored. */
export const readWatchedFields = (fields: unknown = []): readonly string[] | undefined =>
  Array.isArray(fields) && fields.every((key) => typeof key === 'string') ? fields : undefined

/** Whether a search's filter tests fields of the records themselves alone; false where that is known only at run time. */
export function testsOwnFields(filter: unknown): boolean {
  if (filter === undefined) return true
  if (isOneReference(filter)) return false
  try {
    return conditionsOf(readFilterTree(writtenFilter(filter))).every(({ field }) => stepOf(field) === undefined && !hasReference(field))
  } catch {
    return false
  }
}
