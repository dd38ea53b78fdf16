import { computeValues } from '#shared/core/records/compute/compute-values.ts'
import { storeNumbered } from '#shared/core/records/create/auto-numbers.ts'
import { isComputed } from '#shared/core/records/input.ts'
import { emptyValues, type StoredRecord, type Values } from '#shared/core/records/record.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import { defaultValue, isAccepted } from '#shared/core/types/field-kinds/value.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { type RecordType, requireRecordType } from '#shared/core/types/record-type.ts'
import type { FieldValue } from '#shared/platform/kernel/field-type.ts'

/**
 * Creates a record of a built-in type that the platform must write, such as a received payment. No setting of the workspace prevents it.
 * `given` holds values of built-in fields in their in-memory form; other fields get their defaults and numbers. A required field may stay
 * empty; a value that breaks a rule is dropped, as is a unique value that another record holds; the free plan's cap does not apply. The
 * scope is the platform's own, so the record has no creator. Throws NOT_FOUND when the workspace has no such type.
 */
export async function createSystemRecord(
  scope: Scope,
  typeKey: string,
  given: Readonly<Record<string, FieldValue>>,
): Promise<StoredRecord> {
  const type = await requireRecordType(scope, typeKey)
  return storeNumbered(scope, type, initialValues(scope, type, given), {
    isReplaceable: () => true,
    async complete(values, withheld) {
      await computeValues(scope, type, values, withheld)
      for (const field of type.fields) if (withheld.has(field.key) || !isValid(field, values[field.key] ?? null)) values[field.key] = null
    },
  })
}

/** Given values and defaults. A custom field with a built-in key ignores `given` (shared/core/types/builtin/upgrade.ts). */
function initialValues({ workspace }: Scope, type: RecordType, given: Readonly<Record<string, FieldValue>>): Values {
  const values = emptyValues()
  for (const field of type.fields) {
    const givenValue = field.system ? (given[field.key] ?? null) : null
    const preset = field.autogen === '' && !isComputed(field) ? defaultValue(field, workspace.default_currency) : null
    values[field.key] = givenValue ?? preset
  }
  return values
}

/**
 * Whether a value keeps its field's rules. It may break them: a built-in field adopted from a custom field has rules that the workspace
 * made, and a number may become longer than `max_len`.
 */
const isValid = (field: Field, value: FieldValue): boolean =>
  value === null || isAccepted(() => fieldKinds[field.type].check(value, field, field.key))
