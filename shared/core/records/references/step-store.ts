import type { RefStep } from '#shared/core/records/references/ref-steps.ts'
import { tableOf } from '#shared/core/records/store.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'

/** Where the conditions of a search find the record that a `ref` field names. */
export interface NamedRecord {
  /** The name in the query of a column of the record. */
  readonly column: (column: string) => string
  /**
   * A condition on its columns that no record meets which the caller may not read. A condition `isMetByMissing` when it holds for a missing
   * value.
   */
  readonly readable: (condition: Knex.Raw, isMetByMissing: boolean) => Knex.Raw
  /** All conditions that this place serves, as a condition of the search. */
  readonly whole: (conditions: Knex.Raw) => Knex.Raw
}

/**
 * The join of a search to the records that a `ref` field names, for any conditions on them. 50 conditions over 100,000 deals of 20,000
 * customers take 0.08 s, with a subquery for each 7.7 s.
 */
export class StepJoin implements NamedRecord {
  readonly #type: RecordType
  readonly #step: RefStep
  readonly #name: string
  readonly #columns = new Set(['id'])

  /** The join of a type's records by a step; `number` is unique in the query. */
  constructor(type: RecordType, step: RefStep, number: number) {
    this.#type = type
    this.#step = step
    // Names with a space hide no table and no column of a type.
    this.#name = `step ${number}`
  }

  /** The name of a column that the join then selects. It is null where the field names no record. */
  column(column: string): string {
    this.#columns.add(column)
    return this.#nameOf(column)
  }

  readable(condition: Knex.Raw, isMetByMissing: boolean): Knex.Raw {
    if (!this.#step.access.where()) return condition
    const [isReadable, id] = [this.#nameOf('readable'), this.#nameOf('id')]
    return isMetByMissing
      ? builder.raw('((?? or ?? is null) and ?)', [isReadable, id, condition])
      : builder.raw('(?? and ?)', [isReadable, condition])
  }

  whole(conditions: Knex.Raw): Knex.Raw {
    return conditions
  }

  /** SQL that follows the type's table. An id names at most one record, so the join repeats no row. */
  toSql(): Knex.Raw {
    const [{ field, target, access }, name] = [this.#step, this.#name]
    const selected = [...this.#columns].map((column) => builder.raw('?? as ??', [`${name}.${column}`, this.#nameOf(column)]))
    const readable = access.where(name)
    if (readable) selected.push(builder.raw('(?) as ??', [readable, this.#nameOf('readable')]))
    return builder.raw(`left join lateral (select ${selected.map(() => '?').join(', ')} from ? as ?? where ?? = ??) as ?? on true`, [
      ...[...selected, tableOf(target), name],
      ...[`${name}.id`, `${this.#type.key}.${field.column}`, name],
    ])
  }

  #nameOf(column: string): string {
    return `${this.#name} ${column}`
  }
}

/**
 * A subquery for conditions that no missing value meets and that stand together. Beside other conditions in `any`, PostgreSQL tests the
 * target's records first and keeps the ids of those that meet them; a join would read all of both types, in twice the time.
 */
export function stepSubquery(type: RecordType, { field, target, access }: RefStep, number: number): NamedRecord {
  // Keys of types have no capitals, so the alias hides no table.
  const alias = `Step${number}`
  return {
    column: (column) => `${alias}.${column}`,
    readable: (condition) => condition,
    whole: (conditions) =>
      builder.raw('exists (select from ? as ?? where ?? = ?? and ? and ?)', [
        ...[tableOf(target), alias, `${alias}.id`, `${type.key}.${field.column}`],
        ...[access.where(alias) ?? builder.raw('true'), conditions],
      ]),
  }
}
