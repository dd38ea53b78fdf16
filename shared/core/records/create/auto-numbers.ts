import {
  allocateNumbers,
  findNextNumber,
  heldTexts,
  type NumberCounter,
  skipNumbers,
} from '#shared/core/records/create/auto-numbers-store.ts'
import { insertNewRecord } from '#shared/core/records/create/insert-record.ts'
import { findDuplicateField } from '#shared/core/records/duplicate-value.ts'
import { emptyValues, type StoredRecord, type Values } from '#shared/core/records/record.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import { isBlank } from '#shared/core/types/field-kinds/value.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { parseNumbering } from '#shared/core/types/numbering/numbering-pattern.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { withSavepoint } from '#shared/platform/db/savepoint.ts'

/** Numbers checked in one statement when records hold the next ones already. */
const numbersPerCheck = 200

/** How a new record is completed, and which of its values may give way. */
interface Creation {
  /** Adds computed fields to numbered values and checks or corrects them. Values of `withheld` fields must become empty. */
  readonly complete: (values: Values, withheld: ReadonlySet<string>) => Promise<void>
  /** Whether another number, or no value, may replace a unique value that another record holds. */
  readonly isReplaceable: (field: Field) => boolean
}

/**
 * Issues numbers, completes the values and stores a new record; again with other values while another record holds a replaceable one: numbers
 * that records hold are skipped, other values are withheld. Throws like `insertNewRecord` for the other unique values.
 */
export async function storeNumbered(
  scope: Scope,
  type: RecordType,
  given: Values,
  { complete, isReplaceable }: Creation,
): Promise<StoredRecord> {
  const numbered = Object.assign(emptyValues(), given)
  const withheld = new Set<string>()
  const mayReplace = type.fields.some((field) => field.unique && isReplaceable(field))
  for (;;) {
    await issueNumbers(scope, type, [numbered])
    const values = Object.assign(emptyValues(), numbered)
    await complete(values, withheld)
    if (!mayReplace) return insertNewRecord(scope, type, values)
    try {
      return await withSavepoint(scope.db, () => insertNewRecord(scope, type, values))
    } catch (error) {
      const field = findDuplicateField(type, error)
      if (!field || !isReplaceable(field)) throw error
      if (field.autogen === '') withheld.add(field.key)
      else {
        numbered[field.key] = null
        await skipHeldNumbers(scope, type, field)
      }
    }
  }
}

/**
 * Issues a number to every auto-numbered field without a value, in the order of the records, and writes its text into their values. One
 * counter per field and period issues them, so two creations never get the same number (docs/contract/types-and-fields.md#auto-numbers). It
 * does not check the field's rules: `requireValidNumbers` does. In a rehearsal the fields stay empty.
 */
export async function issueNumbers(scope: Scope, type: RecordType, records: readonly Values[]): Promise<void> {
  if (scope.rehearsal) return
  for (const field of type.fields.filter(({ autogen }) => autogen !== '')) {
    const unnumbered = records.filter((values) => isBlank(values[field.key] ?? null))
    if (unnumbered.length === 0) continue
    const [numbering, now] = [parseNumbering(field.autogen), scope.now()]
    const counter = { workspaceId: scope.workspace.id, fieldId: field.id, period: numbering.periodOf(now) }
    const first = await takeNumbers(scope, counter, unnumbered.length)
    for (const [index, values] of unnumbered.entries()) values[field.key] = numbering.format(first + index, now)
  }
}

/** Takes numbers from a counter and returns the first. In a dry run it counts on from the counter's next number and leaves the counter alone. */
async function takeNumbers({ db, peekedNumbers }: Scope, counter: NumberCounter, count: number): Promise<number> {
  if (!peekedNumbers) return allocateNumbers(db, counter, count)
  const first = peekedNumbers.get(nameOf(counter)) ?? (await db.query(findNextNumber(counter)))[0]?.next ?? 1
  peekedNumbers.set(nameOf(counter), first + count)
  return first
}

const nameOf = ({ fieldId, period }: NumberCounter): string => `${fieldId} ${period}`

/** Throws VALIDATION_ERROR naming the field when a number breaks the field's rules: numbers may grow longer than `max_len`. */
export function requireValidNumbers(type: RecordType, values: Values): void {
  for (const field of type.fields) {
    const value = field.autogen === '' ? null : (values[field.key] ?? null)
    if (value !== null) fieldKinds[field.type].check(value, field, `values.${field.key}`)
  }
}

/**
 * Advances a unique field's counter past the consecutive numbers that records hold already. The next number is then free, unless another
 * creation takes it or another record gets that value first: call it again after the next duplicate.
 */
async function skipHeldNumbers(scope: Scope, type: RecordType, field: Field): Promise<void> {
  const [numbering, now] = [parseNumbering(field.autogen), scope.now()]
  const counter = { workspaceId: scope.workspace.id, fieldId: field.id, period: numbering.periodOf(now) }
  const next = scope.peekedNumbers?.get(nameOf(counter)) ?? (await scope.db.query(findNextNumber(counter)))[0]?.next
  if (next === undefined) return
  for (let first = next; ; first += numbersPerCheck) {
    const texts = Array.from({ length: numbersPerCheck }, (_, index) => numbering.format(first + index, now))
    const held = await findHeldTexts(scope, type, field, texts)
    const free = texts.findIndex((text) => !held.has(text))
    if (free < 0) continue
    if (scope.peekedNumbers) scope.peekedNumbers.set(nameOf(counter), first + free)
    else await scope.db.query({ ...skipNumbers({ ...counter, next: first + free }), repeatable: true })
    return
  }
}

async function findHeldTexts(scope: Scope, type: RecordType, { column }: Field, texts: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await scope.db.query(heldTexts(type, column, texts))
  return new Set(rows.flatMap(({ text }) => text ?? []))
}
