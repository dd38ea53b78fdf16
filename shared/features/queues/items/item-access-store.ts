import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { tableOf } from '#shared/core/records/store.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { packParameters } from '#shared/platform/db/statements/pack-parameters.ts'
import { type Statement, sql } from '#shared/platform/db/statements/statement.ts'

/**
 * Builds the SQL condition under which a caller may see an item. Both parameters are SQL: for the id of the item's record, and for the id
 * of its queue.
 */
export type ItemAccess = (recordId: string, queueId: string) => Knex.Raw

/** Queues of one record type, whose items are hidden from callers that may not read the item's record. */
export interface FollowedQueues {
  readonly queueIds: readonly string[]
  /** Undefined when the type does not exist or the caller may read none of its records. */
  readonly type: RecordType | undefined
  readonly access: RecordAccess
}

/**
 * Access to those items of the given queues that have no record, or a record that the caller may read. Items of other queues are not
 * admitted.
 */
export const itemAccessOf =
  (followed: readonly FollowedQueues[]): ItemAccess =>
  (recordId, queueId) => {
    const parts = followed.map(({ queueIds, type, access }) =>
      builder.raw(`(${queueId} = any(?::uuid[]) and (${recordId} is null or ?))`, [
        [...queueIds] as never,
        type ? readable(type, access, recordId) : builder.raw('false'),
      ]),
    )
    return builder.raw(`(${parts.map(() => '?').join(' or ')})`, parts)
  }

// `offset 0` makes PostgreSQL look up each record by its id. Otherwise it may hash the whole table, even to show only the first few items.
const readable = (type: RecordType, access: RecordAccess, recordId: string): Knex.Raw =>
  builder.raw(`exists (select from ? as linked where linked.id = ${recordId} and ? offset 0)`, [
    tableOf(type),
    access.where('linked') ?? builder.raw('true'),
  ])

/** Returns the condition of an item access as SQL that starts with `and`; the empty text when all items are visible. */
export type AccessSql = (recordId: string, queueId: string) => string

/**
 * A statement that an item access may limit. Without an item access the statement is prepared under `name`, and `seen` returns the empty
 * text.
 */
export function accessStatement(
  name: string,
  text: (seen: AccessSql) => string,
): (access: ItemAccess | undefined, ...values: unknown[]) => Statement {
  const whole = sql(
    name,
    text(() => ''),
  )
  return (access, ...values) => (access ? limited(text, access, values) : whole(...values))
}

function limited(text: (seen: AccessSql) => string, access: ItemAccess, given: readonly unknown[]): Statement {
  const values = [...given]
  const written = text((recordId, queueId) => {
    const { sql: condition, bindings } = access(recordId, queueId).toSQL().toNative()
    const before = values.length
    values.push(...bindings)
    return ` and ${condition.replace(/\$(\d+)/g, (_, place: string) => `$${before + Number(place)}`)}`
  })
  const packed = packParameters(written, values)
  return { text: packed.text, values: packed.bindings }
}
