import type { IndexKindName } from '#shared/core/types/indexes/index-kinds.ts'
import type { ScoredUse, StoredIndex, UsedField, UsedType } from '#shared/core/types/indexes/plan-indexes.ts'
import { thresholds } from '#shared/core/types/indexes/thresholds.ts'
import { decayedScoreSql } from '#shared/core/types/indexes/use-store.ts'
import type { Session } from '#shared/platform/db/pool/session.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

const faded = decayedScoreSql('used.score', 'used.used_at', '$1::timestamptz')

// Few of the types in use are large; of these, all fields, uses and indexes are read. The state of an index is read from PostgreSQL's
// catalogue. One statement with joins takes 0.8 s; with a subquery for each type it took 13 s (200,000 counted uses, 1,000 large types, a
// busy machine).
const find = sql(
  'find_used_types',
  `with busy as (
     select field.workspace_id, field.type_id, false as has_index
     from field_uses as used join fields as field on field.workspace_id = used.workspace_id and field.id = used.field_id
     where used.score >= $2 and ${faded} >= $2 and ($3::uuid is null or used.workspace_id = $3)
     union
     select field.workspace_id, field.type_id, true
     from field_indexes as kept join fields as field on field.workspace_id = kept.workspace_id and field.id = kept.field_id
     where $3::uuid is null or kept.workspace_id = $3
   ),
   counted as materialized (
     select busy.workspace_id, busy.type_id, bool_or(busy.has_index) as has_index
     from busy group by busy.workspace_id, busy.type_id
   ),
   large as materialized (
     select counted.workspace_id, counted.type_id, coalesce(sum(count.records), 0)::bigint as records
     from counted left join record_counts as count on count.workspace_id = counted.workspace_id and count.type_id = counted.type_id
     group by counted.workspace_id, counted.type_id, counted.has_index having counted.has_index or sum(count.records) >= $4
   ),
   used as (
     select used.workspace_id, used.field_id, json_agg(json_build_object('use', used.use, 'used_at', used.used_at,
       'score', round(${faded})::bigint) order by used.use) as uses
     from large join fields as field on field.workspace_id = large.workspace_id and field.type_id = large.type_id
     join field_uses as used on used.workspace_id = field.workspace_id and used.field_id = field.id
     group by used.workspace_id, used.field_id
   ),
   found as (
     select kept.*, to_regclass(format('ws_%s.%s_%s', replace(kept.workspace_id::text, '-', ''), kept.kind, replace(kept.field_id::text, '-', '')))
       as place
     from field_indexes as kept where $3::uuid is null or kept.workspace_id = $3
   ),
   indexed as (
     select found.workspace_id, found.field_id, json_agg(json_build_object('kind', found.kind, 'asked_at', found.asked_at, 'built_at', found.built_at,
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
)

interface Row {
  readonly workspace_id: string
  readonly key: string
  readonly records: number
  readonly fields: readonly FieldRow[]
}
interface FieldRow extends Omit<UsedField, 'uses' | 'indexes'> {
  readonly uses: readonly (Pick<ScoredUse, 'use' | 'score'> & { readonly used_at: string })[]
  readonly indexes: readonly IndexRow[]
}
interface IndexRow {
  readonly kind: IndexKindName
  readonly asked_at: string
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

/** The lowest score, and the smallest number of records, for which any index is built. */
const lowest = [
  Math.min(...thresholds.build.map(({ score }) => score)),
  Math.min(...thresholds.build.map(({ records }) => records)),
] as const

/**
 * The record types, of one workspace or of all (null), that have an index by use, or that are large and have a field that is used often:
 * those that reach both values of `lowest`.
 */
export async function findUsedTypes(db: Session, now: Date, workspaceId: string | null = null): Promise<UsedType[]> {
  const rows = await db.query<Row>(find(now, lowest[0], workspaceId, lowest[1]))
  return rows.map(({ workspace_id, fields, ...row }) => ({ ...row, workspaceId: workspace_id, fields: fields.map(fieldOf) }))
}

const fieldOf = ({ uses, indexes, ...row }: FieldRow): UsedField => ({
  ...row,
  uses: uses.map(({ used_at, ...use }) => ({ ...use, usedAt: new Date(used_at) })),
  indexes: indexes.map(indexOf),
})

const indexOf = ({ kind, failure, is_valid, is_being_built, ...row }: IndexRow): StoredIndex => ({
  kind,
  failure,
  state: is_valid === null ? 'missing' : is_valid ? 'ready' : 'broken',
  isBeingBuilt: is_being_built,
  requestedAt: new Date(row.asked_at),
  builtAt: dateOf(row.built_at),
  sampledAt: dateOf(row.sampled_at),
  retryAt: dateOf(row.retry_at),
  sizeBytes: row.size ?? 0,
  scans: row.scans ?? 0,
  scannedAt: dateOf(row.scanned_at),
})

const dateOf = (text: string | null): Date | null => (text === null ? null : new Date(text))

/** Stores that an index is to be built; no row when its field was deleted. Values: workspace, field, kind, now. */
export const insertIndexRequest = sql(
  'ask_for_index',
  `insert into field_indexes (workspace_id, field_id, kind, asked_at)
   select workspace_id, id, $3, $4::timestamptz from fields where workspace_id = $1 and id = $2
   on conflict (workspace_id, field_id, kind) do update set asked_at = excluded.asked_at
   returning field_id`,
)

/** Stores that an index was built. Values: workspace, field, kind, now. */
export const recordIndexBuilt = sql(
  'note_index_built',
  `update field_indexes set built_at = $4, failures = 0, failure = null, retry_at = null
   where workspace_id = $1 and field_id = $2 and kind = $3`,
)

/** Stores the trigram statistics of a field's values. Values: workspace, field, kind, now, common trigrams, frequent trigrams. */
export const recordIndexSampled = sql(
  'note_index_sampled',
  `update field_indexes set sampled_at = $4, common_trigrams = $5, frequent_trigrams = $6, failures = 0, failure = null, retry_at = null
   where workspace_id = $1 and field_id = $2 and kind = $3`,
)

/**
 * Stores that a step of an index (build, drop or sample) failed, and when to retry it; no row when its field was deleted. Values:
 * workspace, field, kind, now, why.
 */
export const recordIndexFailure = sql(
  'note_index_failed',
  `update field_indexes set failures = failures + 1, failure = $5, retry_at = $4::timestamptz
     + make_interval(mins => least(${thresholds.retry.firstMinutes} * 2 ^ least(failures, 20), ${thresholds.retry.lastMinutes})::integer)
   where workspace_id = $1 and field_id = $2 and kind = $3
   returning failure`,
)

/** Deletes what is stored about an index that was dropped. Values: workspace, field, kind. */
export const deleteIndexRow = sql('forget_index', 'delete from field_indexes where workspace_id = $1 and field_id = $2 and kind = $3')

/** The indexes that do not depend on use: those of unique fields and of references. Values: workspace, its schema. */
export const findIndexesAnyhow = sql(
  'find_indexes_anyhow',
  `select $1::text as workspace_id, type.key as type, field.key as field, anyhow.kind, 'ready' as state,
     case anyhow.kind when 'unique' then 'its values are unique' else 'it is a reference' end as why, (
       select coalesce(sum(count.records), 0)::bigint from record_counts as count
       where count.workspace_id = type.workspace_id and count.type_id = type.id
     ) as records, pg_relation_size(anyhow.place)::bigint as size_bytes, null as built_at, 0 as uses, null as last_used_at,
     pg_stat_get_numscans(anyhow.place) as scans, pg_stat_get_lastscan(anyhow.place) as last_scan_at
   from fields as field join record_types as type on type.workspace_id = field.workspace_id and type.id = field.type_id
   cross join lateral (
     select kind, to_regclass(format('%I.%I', $2::text, kind || '_' || replace(field.id::text, '-', ''))) as place
     from unnest(array['unique', 'ref']) as kind
   ) as anyhow
   where field.workspace_id = $1::uuid and anyhow.place is not null
   order by type.position, field.position, anyhow.kind`,
)

/** Tries to take the lock under which one process at a time builds and drops indexes by use. No values. */
export const takeIndexLock = sql(
  'take_index_turn',
  `select pg_try_advisory_lock(hashtextextended('indexes that follow use', 0)) as is_taken`,
)

/** Cancels index builds in a schema. Values: application name of the connections that build indexes, schema. */
export const cancelIndexBuild = sql(
  'make_index_give_way',
  `select pg_cancel_backend(activity.pid)
   from pg_stat_activity as activity
   where activity.datname = current_database() and activity.application_name = $1 and exists (
     select from pg_locks as lock
     join pg_class as class on class.oid = lock.relation
     join pg_namespace as space on space.oid = class.relnamespace
     where lock.pid = activity.pid and lock.mode = 'ShareUpdateExclusiveLock' and lock.granted and space.nspname = $2
   )`,
)
