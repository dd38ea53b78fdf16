import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { tableOf } from '#shared/core/records/store.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { requireFewParameters } from '#shared/platform/db/statements/parameter-limit.ts'
import type { Columns, Params, ParamsOf, RowOf, SqlType } from '#shared/platform/db/statements/sql-types.ts'
import { asSearch, composeStatement, type Statement, statement } from '#shared/platform/db/statements/statement.ts'

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
        [...queueIds],
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

interface Declaration<P extends Params, C extends Columns> {
  readonly params: P
  readonly columns: C
}

/**
 * Declares a statement that an item access may limit. Without an item access the statement is prepared under `name`, and `accessSql` returns the
 * empty text. With one, the parameters of its condition are added under the names `access1`, `access2` and so on.
 */
export function accessStatement<const P extends Params, const C extends Columns>(
  name: string,
  text: (accessSql: AccessSql) => string,
  declaration: Declaration<P, C>,
): (access: ItemAccess | undefined, parameters: ParamsOf<P>) => Statement<RowOf<C>> {
  const whole = statement(
    name,
    text(() => ''),
    declaration,
  ) as (parameters: ParamsOf<P>) => Statement<RowOf<C>>
  return (access, parameters) => (access ? limited(text, declaration, access, parameters) : whole(parameters))
}

/** Like `accessStatement`, for a list or a count: with an item access it is a search. */
export function accessSearch<const P extends Params, const C extends Columns>(
  name: string,
  text: (accessSql: AccessSql) => string,
  declaration: Declaration<P, C>,
): ReturnType<typeof accessStatement<P, C>> {
  const make = accessStatement(name, text, declaration)
  return (access, parameters) => (access ? asSearch(make(access, parameters), null) : make(access, parameters))
}

/** The type of a parameter of a condition, which only the condition's text tells. */
const unknownType: SqlType<unknown, unknown> = { sqlName: 'unknown', isNotNull: false }

function limited<P extends Params, C extends Columns>(
  text: (accessSql: AccessSql) => string,
  { params, columns }: Declaration<P, C>,
  access: ItemAccess,
  parameters: ParamsOf<P>,
): Statement<RowOf<C>> {
  const bindings: unknown[] = []
  const limitedText = text((recordId, queueId) => {
    const condition = access(recordId, queueId).toSQL().toNative()
    const before = bindings.length
    bindings.push(...condition.bindings)
    return ` and ${condition.sql.replace(/\$(\d+)/g, (_, place: string) => `$access${before + Number(place)}`)}`
  })
  const accessValues = Object.fromEntries(bindings.map((value, index) => [`access${index + 1}`, value]))
  const accessParams: Params = Object.fromEntries(Object.keys(accessValues).map((name) => [name, unknownType]))
  const composed = composeStatement(limitedText, { params: { ...params, ...accessParams }, columns }, { ...parameters, ...accessValues })
  requireFewParameters(composed.values ?? [])
  return composed
}
