import type { Scope } from '#shared/access/scope.ts'
import { builder } from '#shared/db/builder.ts'
import { build, sql } from '#shared/db/statement.ts'
import type { Values } from '#shared/records/record.ts'
import { tableOf } from '#shared/records/statements.ts'
import type { Field } from '#shared/types/fields/field.ts'
import { fieldKinds } from '#shared/types/fields/kinds.ts'
import { isBlank } from '#shared/types/fields/value.ts'
import { parseNumbering } from '#shared/types/numbering.ts'
import type { RecordType } from '#shared/types/record-type.ts'

const take = sql(
  'take_numbers',
  `insert into field_numbers as counter (workspace_id, field_id, period, next) values ($1, $2, $3, 1 + $4)
   on conflict (workspace_id, field_id, period) do update set next = counter.next + $4
   returning next - $4 as first`,
)

// Outside a transaction the counter's commit does not wait for the disk, or every creation would wait for the one before. That is safe: the
// write-ahead log is written in order, so once the record that carries the number is on the disk, the counter is too, and a crash before
// that loses both.
const takeAlone = sql(
  'take_numbers_alone',
  `with relaxed as materialized (select set_config('synchronous_commit', 'off', true))
   insert into field_numbers as counter (workspace_id, field_id, period, next) select $1, $2, $3, 1 + $4::bigint from relaxed
   on conflict (workspace_id, field_id, period) do update set next = counter.next + $4
   returning next - $4 as first`,
)

const nextOf = sql('next_number', 'select next from field_numbers where workspace_id = $1 and field_id = $2 and period = $3')

const skipTo = sql(
  'skip_numbers',
  `update field_numbers set next = greatest(next, $4) where workspace_id = $1 and field_id = $2 and period = $3`,
)

/** Numbers looked at together when the next ones are held already. */
const lookAhead = 200

/** Whether creating a record of the type may issue numbers. */
export const numbersItself = ({ fields }: RecordType): boolean => fields.some(({ autogen }) => autogen !== '')

/**
 * Issues a number to every auto-numbered field without a value, in the order of the records, and puts its text into their values. Numbers
 * come from one counter per field and period, so two creations never get the same (decisions, Auto-numbering). Whether the field's own
 * rules allow what was issued is `requireFitting`'s to ask.
 */
export async function issueNumbers(scope: Scope, type: RecordType, records: readonly Values[]): Promise<void> {
  for (const field of type.fields.filter(({ autogen }) => autogen !== '')) {
    const wanting = records.filter((values) => isBlank(values[field.key] ?? null))
    if (wanting.length === 0) continue
    const [numbering, now] = [parseNumbering(field.autogen), scope.now()]
    const first = await takeNumbers(scope, field, numbering.periodOf(now), wanting.length)
    for (const [index, values] of wanting.entries()) values[field.key] = numbering.format(first + index, now)
  }
}

async function takeNumbers(scope: Scope, field: Field, period: string, count: number): Promise<number> {
  const statement = 'inTransaction' in scope.db ? take : takeAlone
  const [row] = await scope.db.query<{ first: number }>(statement(scope.workspace.id, field.id, period, count))
  return row?.first ?? 1
}

/** Throws VALIDATION_ERROR naming the field when a number breaks the field's rules: one grows longer than `max_len` some day. */
export function requireFitting(type: RecordType, values: Values): void {
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
  const [counter] = await scope.db.query<{ next: number }>(nextOf(scope.workspace.id, field.id, period))
  if (!counter) return
  for (let first = counter.next; ; first += lookAhead) {
    const texts = Array.from({ length: lookAhead }, (_, index) => numbering.format(first + index, now))
    const held = await heldAmong(scope, type, field, texts)
    const free = texts.findIndex((text) => !held.has(text))
    if (free < 0) continue
    await scope.db.query(skipTo(scope.workspace.id, field.id, period, first + free))
    return
  }
}

async function heldAmong(scope: Scope, type: RecordType, { column }: Field, texts: readonly string[]): Promise<ReadonlySet<string>> {
  // Without the second condition the unique index, which holds no empty text, would not do.
  const query = builder.raw(`select ?? as text from ? where ?? = any(?) and ?? <> ''`, [
    column,
    tableOf(type),
    column,
    builder.raw('?::text[]', [texts as never]),
    column,
  ])
  const rows = await scope.db.query<{ text: string }>(build(query))
  return new Set(rows.map(({ text }) => text))
}
