import type { IndexKindName } from '#shared/core/types/indexes/index-kinds.ts'
import type { ScoredUse, StoredIndex, UsedField, UsedType } from '#shared/core/types/indexes/plan-indexes.ts'
import { thresholds } from '#shared/core/types/indexes/thresholds.ts'
import { decayedScoreSql, leadIdSql } from '#shared/core/types/indexes/use-store.ts'
import type { Session } from '#shared/platform/db/pool/session.ts'
import {
  bigint,
  boolean,
  double,
  identifier,
  instant,
  integer,
  json,
  numeric,
  text,
  texts,
  uuid,
} from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const faded = decayedScoreSql('used.score', 'used.used_at', '$now::timestamptz')

// Few of the types in use are large; of these, all fields, uses and indexes are read. The state of an index is read from PostgreSQL's
// catalogue. One statement with joins takes 0.8 s; with a subquery for each type it took 13 s (200,000 counted uses, 1,000 large types, a
// busy machine).
const selectUsedTypes = statement(
  'types.selectUsedTypes',
  `with busy as (
     select field.workspace_id, field.type_id, false as has_index
     from field_uses as used join fields as field on field.workspace_id = used.workspace_id and field.id = used.field_id
     where used.score >= $minUses and ${faded} >= $minUses and ($workspaceId::uuid is null or used.workspace_id = $workspaceId)
     union
     select field.workspace_id, field.type_id, true
     from field_indexes as kept join fields as field on field.workspace_id = kept.workspace_id and field.id = kept.field_id
     where $workspaceId::uuid is null or kept.workspace_id = $workspaceId
   ),
   counted as materialized (
     select busy.workspace_id, busy.type_id, bool_or(busy.has_index) as has_index
     from busy group by busy.workspace_id, busy.type_id
   ),
   large as materialized (
     select counted.workspace_id, counted.type_id, coalesce(sum(count.records), 0)::bigint as records
     from counted left join record_counts as count on count.workspace_id = counted.workspace_id and count.type_id = counted.type_id
     group by counted.workspace_id, counted.type_id, counted.has_index having counted.has_index or sum(count.records) >= $minRecords
   ),
   scored as materialized (
     select used.*, field.type_id, ${faded} as faded
     from large join fields as field on field.workspace_id = large.workspace_id and field.type_id = large.type_id
     join field_uses as used on used.workspace_id = field.workspace_id and used.field_id = field.id
   ),
   pairs as (
     select pair.workspace_id, pair.field_id, pair.lead_field_id,
       row_number() over (partition by pair.workspace_id, pair.type_id order by pair.has_index desc, pair.faded desc, pair.field_id, pair.lead_field_id) as place
     from (
       select scored.workspace_id, scored.type_id, scored.field_id, scored.lead_field_id, sum(scored.faded) as faded, exists (
         select from field_indexes as kept
         where kept.workspace_id = scored.workspace_id and kept.field_id = scored.field_id and kept.lead_field_id = scored.lead_field_id
       ) as has_index
       from scored where scored.lead_field_id is not null
       group by scored.workspace_id, scored.type_id, scored.field_id, scored.lead_field_id
     ) as pair
     where pair.has_index or pair.faded >= $minUses
   ),
   used as (
     select used.workspace_id, used.field_id, json_agg(json_build_object('use', split_part(used.use, ':', 1), 'lead_id', used.lead_field_id, 'used_at', used.used_at,
       'score', round(used.faded)::bigint) order by used.use) as uses
     from scored as used
     left join pairs on pairs.workspace_id = used.workspace_id and pairs.field_id = used.field_id and pairs.lead_field_id = used.lead_field_id
     where used.lead_field_id is null or pairs.place <= ${thresholds.pairs.read}
     group by used.workspace_id, used.field_id
   ),
   found as (
     select kept.*, to_regclass(concat('ws_', replace(kept.workspace_id::text, '-', ''), '.', split_part(kept.kind, ':', 1), '_',
       substring(lead.column_name from '[0-9]+$') || '_', replace(kept.field_id::text, '-', ''))) as place
     from field_indexes as kept left join fields as lead on lead.workspace_id = kept.workspace_id and lead.id = kept.lead_field_id
     where $workspaceId::uuid is null or kept.workspace_id = $workspaceId
   ),
   indexed as (
     select found.workspace_id, found.field_id, json_agg(json_build_object('kind', split_part(found.kind, ':', 1), 'lead_id', found.lead_field_id, 'requested_at', found.requested_at, 'built_at', found.built_at,
       'sampled_at', found.sampled_at, 'retry_at', found.retry_at, 'failure', found.failure, 'is_valid', form.indisvalid, 'size', pg_relation_size(found.place),
       'scans', pg_stat_get_numscans(found.place), 'scanned_at', pg_stat_get_lastscan(found.place),
       'is_being_built', progress.pid is not null
     ) order by found.kind) as indexes
     from found left join pg_index as form on form.indexrelid = found.place
     left join pg_stat_progress_create_index as progress on progress.index_relid = found.place
     group by found.workspace_id, found.field_id
   )
   select type.workspace_id, type.key, large.records,
     json_agg(json_build_object('id', field.id, 'key', field.key, 'type', field.type, 'unique', field.is_unique,
       'column', field.column_name, 'uses', coalesce(used.uses, '[]'), 'indexes', coalesce(indexed.indexes, '[]')) order by field.position) as fields
   from large join record_types as type on type.workspace_id = large.workspace_id and type.id = large.type_id
   join fields as field on field.workspace_id = type.workspace_id and field.type_id = type.id
   left join used on used.workspace_id = field.workspace_id and used.field_id = field.id
   left join indexed on indexed.workspace_id = field.workspace_id and indexed.field_id = field.id
   group by type.workspace_id, type.id, type.key, large.records
   order by type.workspace_id, type.id`,
  {
    params: { now: instant, minUses: double, workspaceId: uuid.orNull, minRecords: numeric },
    columns: {
      workspace_id: uuid.notNull,
      key: text.notNull,
      records: bigint.notNull,
      fields: json.as<readonly FieldRow[]>().notNull,
    },
  },
)

interface FieldRow extends Omit<UsedField, 'uses' | 'indexes'> {
  readonly uses: readonly (Pick<ScoredUse, 'use' | 'score'> & { readonly lead_id: string | null; readonly used_at: string })[]
  readonly indexes: readonly IndexRow[]
}
interface IndexRow {
  readonly kind: IndexKindName
  readonly lead_id: string | null
  readonly requested_at: string
  readonly built_at: string | null
  readonly sampled_at: string | null
  readonly retry_at: string | null
  readonly failure: string | null
  readonly is_valid: boolean | null
  readonly is_being_built: boolean
  readonly size: number | null
  readonly scans: number | null
  readonly scanned_at: string | null
}

/** The lowest weighted number of uses, and the smallest number of records, for which any index is built. */
const lowest = {
  minUses: Math.min(...thresholds.build.map(({ score }) => score)),
  minRecords: Math.min(...thresholds.build.map(({ records }) => records)),
}

/**
 * The record types, of one workspace or of all (null), that have an index by use, or that are large and have a field that is used often:
 * those that reach both values of `lowest`.
 */
export async function findUsedTypes(db: Session, now: Date, workspaceId: string | null = null): Promise<UsedType[]> {
  const rows = await db.query(selectUsedTypes({ now, workspaceId, ...lowest }))
  return rows.map(({ workspace_id, fields, ...row }) => ({ ...row, workspaceId: workspace_id, fields: fields.map(fieldOf) }))
}

const fieldOf = ({ uses, indexes, ...row }: FieldRow): UsedField => ({
  ...row,
  uses: uses.map(({ lead_id, used_at, ...use }) => ({ ...use, leadId: lead_id, usedAt: new Date(used_at) })),
  indexes: indexes.map(indexOf),
})

const indexOf = ({ kind, failure, is_valid, is_being_built, ...row }: IndexRow): StoredIndex => ({
  kind,
  leadId: row.lead_id,
  failure,
  state: is_valid === null ? 'missing' : is_valid ? 'ready' : 'broken',
  isBeingBuilt: is_being_built,
  requestedAt: new Date(row.requested_at),
  builtAt: dateOf(row.built_at),
  sampledAt: dateOf(row.sampled_at),
  retryAt: dateOf(row.retry_at),
  sizeBytes: row.size ?? 0,
  scans: row.scans ?? 0,
  scannedAt: dateOf(row.scanned_at),
})

const dateOf = (text: string | null): Date | null => (text === null ? null : new Date(text))

/** Parameters of the index of a field. */
const indexParams = { workspaceId: uuid, fieldId: uuid, kind: text }

/** Stores that an index is to be built; no row when its field, or the one that leads it, was deleted. */
export const insertIndexRequest = statement(
  'types.insertIndexRequest',
  `insert into field_indexes (workspace_id, field_id, kind, requested_at)
   select field.workspace_id, field.id, $kind, $now::timestamptz
   from fields as field left join fields as lead on lead.workspace_id = $workspaceId and lead.id = ${leadIdSql('$kind::text')}
   where field.workspace_id = $workspaceId and field.id = $fieldId and (lead.id is not null or ${leadIdSql('$kind::text')} is null)
   on conflict (workspace_id, field_id, kind) do update set requested_at = excluded.requested_at
   returning field_id`,
  { params: { ...indexParams, now: instant }, columns: { field_id: uuid.notNull } },
)

/** Stores that an index was built. */
export const recordIndexBuilt = statement(
  'types.recordIndexBuilt',
  `update field_indexes set built_at = $now, failures = 0, failure = null, retry_at = null
   where workspace_id = $workspaceId and field_id = $fieldId and kind = $kind`,
  { params: { ...indexParams, now: instant } },
)

/** Stores the trigram statistics of a field's values. */
export const recordIndexSampled = statement(
  'types.recordIndexSampled',
  `update field_indexes
   set sampled_at = $now, common_trigrams = $common, frequent_trigrams = $frequent, failures = 0, failure = null, retry_at = null
   where workspace_id = $workspaceId and field_id = $fieldId and kind = $kind`,
  { params: { ...indexParams, now: instant, common: texts, frequent: texts } },
)

/** Stores that a step of an index (build, drop or sample) failed, and when to retry it; no row when its field was deleted. */
export const recordIndexFailure = statement(
  'types.recordIndexFailure',
  `update field_indexes set failures = failures + 1, failure = $failure, retry_at = $now::timestamptz
     + make_interval(mins => least(${thresholds.retry.firstMinutes} * 2 ^ least(failures, 20), ${thresholds.retry.lastMinutes})::integer)
   where workspace_id = $workspaceId and field_id = $fieldId and kind = $kind
   returning failure`,
  { params: { ...indexParams, now: instant, failure: text }, columns: { failure: text } },
)

/** Deletes the stored state of an index that was dropped. */
export const deleteIndexRow = statement(
  'types.deleteIndexRow',
  'delete from field_indexes where workspace_id = $workspaceId and field_id = $fieldId and kind = $kind',
  { params: indexParams },
)

/** The indexes that do not depend on use: those of unique fields and of references, in the workspace's schema. */
export const findPermanentIndexes = statement(
  'types.findPermanentIndexes',
  `select $workspaceId::text as workspace_id, type.key as type, field.key as field, permanent.kind, 'ready' as state,
     case permanent.kind when 'unique' then 'its values are unique' else 'it is a reference' end as why, (
       select coalesce(sum(count.records), 0)::bigint from record_counts as count
       where count.workspace_id = type.workspace_id and count.type_id = type.id
     ) as records, pg_relation_size(permanent.place)::bigint as size_bytes, null as built_at, 0 as uses, null as last_used_at,
     pg_stat_get_numscans(permanent.place) as scans, pg_stat_get_lastscan(permanent.place) as last_scan_at
   from fields as field join record_types as type on type.workspace_id = field.workspace_id and type.id = field.type_id
   cross join lateral (
     select kind, to_regclass(format('%I.%I', $schema::text, kind || '_' || replace(field.id::text, '-', ''))) as place
     from unnest(array['unique', 'ref']) as kind
   ) as permanent
   where field.workspace_id = $workspaceId::uuid and permanent.place is not null
   order by type.position, field.position, permanent.kind`,
  {
    params: { workspaceId: text, schema: text },
    columns: {
      workspace_id: text.notNull,
      type: text.notNull,
      field: text.notNull,
      kind: text.as<'unique' | 'ref'>().notNull,
      state: text.as<'ready'>().notNull,
      why: text.notNull,
      records: bigint.notNull,
      size_bytes: bigint.notNull,
      built_at: text.as<never>(),
      uses: integer.notNull,
      last_used_at: text.as<never>(),
      scans: bigint.notNull,
      last_scan_at: instant,
    },
  },
)

/** Tries to take the lock under which one process at a time builds and drops indexes by use. */
export const takeIndexLock = statement(
  'types.takeIndexLock',
  `select pg_try_advisory_lock(hashtextextended('indexes that follow use', 0)) as is_taken`,
  { params: {}, columns: { is_taken: boolean.notNull } },
)

/** Cancels index builds in a schema. `sessionName` is the application name of the connections that build indexes. */
export const cancelIndexBuilds = statement(
  'types.cancelIndexBuilds',
  `select pg_cancel_backend(activity.pid)
   from pg_stat_activity as activity
   where activity.datname = current_database() and activity.application_name = $sessionName and exists (
     select from pg_locks as lock
     join pg_class as class on class.oid = lock.relation
     join pg_namespace as space on space.oid = class.relnamespace
     where lock.pid = activity.pid and lock.mode = 'ShareUpdateExclusiveLock' and lock.granted and space.nspname = $schema
   )`,
  { params: { sessionName: text, schema: identifier }, columns: { pg_cancel_backend: boolean.notNull } },
)
