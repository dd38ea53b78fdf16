import type { TypeAuditAccess } from '#shared/core/records/audit/audit-access.ts'
import { type AuditQuery, auditIdRange } from '#shared/core/records/audit/schemas.ts'
import { tableOf } from '#shared/core/records/store.ts'
import { builder, joinWithAnd, joinWithOr, type Knex } from '#shared/platform/db/statements/builder.ts'
import { bigint, instant, integer, jsonb, type RowOf, selectList, text, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { buildStatement, statement } from '#shared/platform/db/statements/statement.ts'
import type { CauseKind } from '#shared/platform/kernel/cause.ts'

const entryColumns = {
  id: uuid.notNull,
  actor_id: uuid,
  actor_type: text.notNull,
  action: text.notNull,
  object_type: text.notNull,
  record_id: uuid.notNull,
  before: jsonb.as<Record<string, unknown>>(),
  after: jsonb.as<Record<string, unknown>>(),
  request_id: text.notNull,
  created_at: instant.notNull,
  type_revision: bigint,
  /** Null in entries of releases that kept no causes. */
  cause_kind: text.as<CauseKind>(),
  cause_id: uuid,
  undo_of: uuid,
  /** Of a deletion, like the next two. Null in entries of releases that did not keep it, and of a record without a creator. */
  record_created_by: uuid,
  record_created_at: instant,
  record_updated_at: instant,
}
const entryList = selectList(entryColumns)
export type EntryRow = RowOf<typeof entryColumns>

/** Keys of a workspace's types. */
export const findTypeKeys = statement('records.findTypeKeys', 'select key from record_types where workspace_id = $workspaceId', {
  params: { workspaceId: uuid },
  columns: { key: text.notNull },
})

/**
 * A page of the matching entries without their values, newest first, with the number of all of them. If the page lies past the last entry, a
 * single row comes with the number alone. The statement is not prepared: which index is right depends on its filters.
 */
export function auditPageStatement(workspaceId: string, query: AuditQuery, readers: readonly TypeAuditAccess[] | undefined) {
  const conditions = [builder.raw('workspace_id = ?', [workspaceId]), ...filters(query)]
  if (readers) conditions.push(readable(readers))
  const where = joinWithAnd(conditions)
  return buildStatement(
    builder.raw(
      `select counted.total, page.id, page.text_length from (select count(*) as total from audit_entries as entry where ?) as counted
       left join (select id, text_length from audit_entries as entry where ? order by id desc limit ? offset ?) as page on true
       order by page.id desc`,
      [where, where, query.limit, query.offset],
    ),
    { total: bigint.notNull, id: uuid, text_length: integer },
  )
}

/** The entries of these ids, newest first. */
export const findEntries = statement(
  'records.findEntries',
  `select ${entryList} from audit_entries where workspace_id = $workspaceId and id = any($ids::uuid[]) order by id desc`,
  { params: { workspaceId: uuid, ids: uuids }, columns: entryColumns },
)

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
  const parts = [builder.raw('object_type = any(?::text[])', [[...whole]]), ...partly]
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

/** The values that changes of records replaced, by the ids of the changes' audit entries. */
export const findReplacedValues = statement(
  'records.findReplacedValues',
  'select id, before from audit_entries where workspace_id = $workspaceId and id = any($entryIds::uuid[]) order by id',
  {
    params: { workspaceId: uuid, entryIds: uuids },
    columns: { id: uuid.notNull, before: jsonb.as<Readonly<Record<string, unknown>>>() },
  },
)
