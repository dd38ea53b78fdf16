import type { TypeAuditAccess } from '#shared/core/records/audit/audit-access.ts'
import { type AuditQuery, auditIdRange } from '#shared/core/records/audit/schemas.ts'
import { tableOf } from '#shared/core/records/store.ts'
import { builder, joinWithAnd, joinWithOr, type Knex } from '#shared/platform/db/statements/builder.ts'
import { bigint, instant, jsonb, selectList, text, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { buildStatement, statement } from '#shared/platform/db/statements/statement.ts'

/** The columns of an entry; all are null in the row of a page without entries. */
const entryColumns = {
  id: uuid,
  actor_id: uuid,
  actor_type: text,
  action: text,
  object_type: text,
  record_id: uuid,
  before: jsonb.as<Record<string, unknown>>(),
  after: jsonb.as<Record<string, unknown>>(),
  request_id: text,
  created_at: instant,
  type_revision: bigint,
}
const entryList = selectList(entryColumns)

/** Keys of a workspace's types. */
export const findTypeKeys = statement('records.findTypeKeys', 'select key from record_types where workspace_id = $workspaceId', {
  params: { workspaceId: uuid },
  columns: { key: text.notNull },
})

/** Maximum characters of the values on a page of several entries, so that no request fills the memory of a process. */
const maxPageText = 9_000_000

/**
 * A page of the matching entries, newest first, with the number of all of them. If the page lies past the last entry, or would exceed
 * `maxPageText` with more than one entry, a single row comes with the number alone. The statement is not prepared: which index is right
 * depends on its filters.
 */
export function auditPageStatement(workspaceId: string, query: AuditQuery, readers: readonly TypeAuditAccess[] | undefined) {
  const conditions = [builder.raw('workspace_id = ?', [workspaceId]), ...filters(query)]
  if (readers) conditions.push(readable(readers))
  const where = joinWithAnd(conditions)
  return buildStatement(
    builder.raw(
      `select counted.total, together, ${entryList} from (select count(*) as total from audit_entries as entry where ?) as counted
       left join (
         select * from (
           select page.*, sum(text_length) over () as together, count(*) over () as entries
           from (select ${entryList}, text_length from audit_entries as entry where ? order by id desc limit ? offset ?) as page
         ) as measured where together <= ${maxPageText} or entries = 1
       ) as page on true
       order by page.id desc`,
      [where, where, query.limit, query.offset],
    ),
    { total: bigint.notNull, together: bigint, ...entryColumns },
  )
}

function filters(query: AuditQuery): Knex.Raw[] {
  const { from, to } = auditIdRange(query)
  const given: [string, string | undefined][] = [
    ['object_type = ?', query.object_type],
    ['record_id = ?', query.record_id],
    ['actor_id = ?', query.actor],
    ['action = ?', query.action],
    ['id >= ?', from],
    ['id < ?', to],
  ]
  return given.flatMap(([condition, value]) => (value === undefined ? [] : [builder.raw(condition, [value])]))
}

/**
 * Condition for the entries that the caller may see: all entries of the types with `showsDeletedRecords`; of the other types, the entries
 * of existing records that the caller may read.
 */
function readable(readers: readonly TypeAuditAccess[]): Knex.Raw {
  const whole = readers.filter((reader) => reader.showsDeletedRecords).map(({ type }) => type.key)
  const partly = readers
    .filter((reader) => !reader.showsDeletedRecords)
    .map(({ type, access }) => {
      const record = builder.raw('select from ? as record where record.id = entry.record_id and ?', [
        tableOf(type),
        access.where('record') ?? builder.raw('true'),
      ])
      return builder.raw('(object_type = ? and exists (?))', [type.key, record])
    })
  const parts = [builder.raw('object_type = any(?::text[])', [whole as never]), ...partly]
  return joinWithOr(parts)
}

/** The values that entries show: those after the change, or before a deletion; with the revision of the type that they were written with. */
export const findValuesOfEntries = statement(
  'records.findValuesOfEntries',
  'select id, coalesce(after, before) as values, type_revision from audit_entries where workspace_id = $workspaceId and id = any($ids::uuid[])',
  {
    params: { workspaceId: uuid, ids: uuids },
    columns: { id: uuid.notNull, values: jsonb.as<Readonly<Record<string, unknown>>>().notNull, type_revision: bigint },
  },
)
