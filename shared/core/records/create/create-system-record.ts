import { withRecordType } from '#shared/core/records/access.ts'
import { computeValues } from '#shared/core/records/compute/compute-values.ts'
import { issueNumbers, skipHeldNumbers } from '#shared/core/records/create/auto-numbers.ts'
import { insertNewRecord } from '#shared/core/records/create/create-record.ts'
import { findDuplicateField } from '#shared/core/records/duplicate-value.ts'
import { isComputed } from '#shared/core/records/input.ts'
import { emptyValues, type StoredRecord, type Values } from '#shared/core/records/record.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import { defaultValue } from '#shared/core/types/field-kinds/value.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { withSavepoint } from '#shared/platform/db/savepoint.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import type { FieldValue } from '#shared/platform/kernel/field-type.ts'

/**
 * Creates a record of a built-in type that the platform itself has to write down, such as money that came: nothing that a workspace has set
 * up keeps it away. `given` are values of built-in fields in their in-memory form; other fields get their defaults and numbers. A required
 * field may stay empty, and so does one whose value breaks a rule or is held by another record; the free plan's cap does not count. The
 * scope is the platform's own, so nobody has made it. Throws NOT_FOUND when the workspace has no such type.
 */
export function createSystemRecord(scope: Scope, typeKey: string, given: Readonly<Record<string, FieldValue>>): Promise<StoredRecord> {
  return withRecordType(scope, typeKey, async (type) => {
    const values = startingValues(scope, type, given)
    const emptied = new Set<string>()
    for (;;) {
      await issueNumbers(scope, type, [values])
      const tried = Object.assign(emptyValues(), values)
      await computeValues(scope, type, tried, emptied)
      for (const field of type.fields) if (emptied.has(field.key) || !fits(field, tried[field.key] ?? null)) tried[field.key] = null
      try {
        return await withSavepoint(scope.db, () => insertNewRecord(scope, type, tried))
      } catch (error) {
        const held = findDuplicateField(type, error)
        if (!held) throw error
        if (held.autogen === '') emptied.add(held.key)
        else {
          values[held.key] = null
          await skipHeldNumbers(scope, type, held)
        }
      }
    }
  })
}

/** A field of the workspace's own that stands under a built-in one's key is not written (shared/core/types/builtin/upgrade.ts). */
function startingValues({ workspace }: Scope, type: RecordType, given: Readonly<Record<string, FieldValue>>): Values {
  const values = emptyValues()
  for (const field of type.fields) {
    const sent = field.system ? (given[field.key] ?? null) : null
    const initial = field.autogen === '' && !isComputed(field) ? defaultValue(field, workspace.default_currency) : null
    values[field.key] = sent ?? initial
  }
  return values
}

/** A built-in field may have rules of the workspace's as well, where one of its own was adopted; a number may have outgrown them. */
function fits(field: Field, value: FieldValue): boolean {
  if (value === null) return true
  try {
    fieldKinds[field.type].check(value, field, field.key)
    return true
  } catch (error) {
    if (error instanceof Problem) return false
    throw error
  }
}
