import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { tableOf } from '#shared/core/records/store.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { packParameters } from '#shared/platform/db/statements/pack-parameters.ts'
import { type Statement, sql } from '#shared/platform/db/statements/statement.ts'

/** The condition under which a caller sees an item, of SQL for the id of its record and the id of its queue. */
export type ItemAccess = (recordId: string, queueId: string) => Knex.Raw

/** Queues whose items follow the records of one type. */
export interface FollowedQueues {
  readonly queueIds: readonly string[]
  /** Undefined where the type is gone or the caller may read none of its records. */
  readonly type: RecordType | undefined
  readonly access: RecordAccess
}

/** Access to items without a record, and to those whose record the caller may read; to no items of other queues. */
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

// `offset 0` makes PostgreSQL look records up by their ids: it may hash the whole table otherwise, also for the first few items.
const readable = (type: RecordType, access: RecordAccess, recordId: string): Knex.Raw =>
  builder.raw(`exists (select from ? as linked where linked.id = ${recordId} and ? offset 0)`, [
    tableOf(type),
    access.where('linked') ?? builder.raw('true'),
  ])

/** Writes the condition of an access into a statement, behind `and`; empty text without one. */
export type AccessSql = (recordId: string, queueId: string) => string

/** A statement that an item access may limit. Without one it is prepared under its name, and `seen` writes nothing. */
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
