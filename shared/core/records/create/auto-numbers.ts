import { findNextNumber, heldTexts, skipNumbers } from '#shared/core/records/create/auto-numbers-store.ts'
import { allocateNumbers } from '#shared/core/records/create/number-counter.ts'
import type { Values } from '#shared/core/records/record.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import { isBlank } from '#shared/core/types/field-kinds/value.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { parseNumbering } from '#shared/core/types/numbering/numbering-pattern.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'

/** Numbers looked at together when the next ones are held already. */
const lookAhead = 200

/** Whether creating a record of the type may issue numbers. */
export const hasAutoNumbers = ({ fields }: RecordType): boolean => fields.some(({ autogen }) => autogen !== '')

/**
 * Issues a number to every auto-numbered field without a value, in the order of the records, and puts its text into their values. Numbers
 * come from one counter per field and period, so two creations never get the same (decisions, Auto-numbering). Whether the field's own
 * rules allow what was issued is `requireFitting`'s to ask. In a rehearsal the fields stay empty.
 */
export async function issueNumbers(scope: Scope, type: RecordType, records: readonly Values[]): Promise<void> {
  if (scope.rehearsal) return
  for (const field of type.fields.filter(({ autogen }) => autogen !== '')) {
    const wanting = records.filter((values) => isBlank(values[field.key] ?? null))
    if (wanting.length === 0) continue
    const [numbering, now] = [parseNumbering(field.autogen), scope.now()]
    const counter = { workspaceId: scope.workspace.id, fieldId: field.id, period: numbering.periodOf(now) }
    const first = await allocateNumbers(scope.db, counter, wanting.length)
    for (const [index, values] of wanting.entries()) values[field.key] = numbering.format(first + index, now)
  }
}

/** Throws VALIDATION_ERROR naming the field when a number breaks the field's rules: one grows longer than `max_len` some day. */
export function requireValidNumbers(type: RecordType, values: Values): void {
  for (const field of type.fields) {
    const value = field.autogen === '' ? null : (values[field.key] ?? null)
    if (value !== null) fieldKinds[field.type].check(value, field, `values.${field.key}`)
  }
}

/**
 * Moves a unique field's counter behind the numbers that records hold from the next one on. That next one is then free, unless another
 * creation takes it first or somebody else's record comes to hold it: ask again after the next refusal.
 */
export async function skipHeldNumbers(scope: Scope, type: RecordType, field: Field): Promise<void> {
  const [numbering, now] = [parseNumbering(field.autogen), scope.now()]
  const period = numbering.periodOf(now)
  const [counter] = await scope.db.query<{ next: number }>(findNextNumber(scope.workspace.id, field.id, period))
  if (!counter) return
  for (let first = counter.next; ; first += lookAhead) {
    const texts = Array.from({ length: lookAhead }, (_, index) => numbering.format(first + index, now))
    const held = await heldAmong(scope, type, field, texts)
    const free = texts.findIndex((text) => !held.has(text))
    if (free < 0) continue
    await scope.db.query({ ...skipNumbers(scope.workspace.id, field.id, period, first + free), repeatable: true })
    return
  }
}

async function heldAmong(scope: Scope, type: RecordType, { column }: Field, texts: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await scope.db.query<{ text: string }>(heldTexts(type, column, texts))
  return new Set(rows.map(({ text }) => text))
}
