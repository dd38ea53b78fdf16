import { lowerCase, lowerCaseSql } from '#shared/core/policy/conditions/letter-case.ts'
import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { hasTrigram, letterPairs, letterPairsSql } from '#shared/platform/db/statements/letter-pairs.ts'
import { asHeavy, asUnprepared, type Statement, sql } from '#shared/platform/db/statements/statement.ts'

declareConflicts({ drive_objects_key: ['KEY_TAKEN', 'to is the key of another object'] })

const columns = 'key, blob_id, size_bytes, content_type, sha256, created_by, created_at, updated_at'

/** One file. Values: workspace, space, key. */
export const findObject = sql(
  'find_drive_object',
  `select ${columns} from drive_objects where workspace_id = $1 and space_id = $2 and key = $3 and blob_id is not null`,
)

/**
 * Stores a file under its key and replaces an existing one, whose size is returned as `replaced_bytes`, null for a new key. Values:
 * workspace, space, key, blob, size, content type, SHA-256, actor, time.
 */
export const putObject = sql(
  'put_drive_object',
  `insert into drive_objects (workspace_id, space_id, key, blob_id, size_bytes, content_type, sha256, created_by, created_at, updated_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)
   on conflict on constraint drive_objects_key do update set blob_id = excluded.blob_id, size_bytes = excluded.size_bytes,
     content_type = excluded.content_type, sha256 = excluded.sha256, updated_at = excluded.updated_at
   returning ${columns.replaceAll(/\w+/g, 'new.$&')}, old.size_bytes as replaced_bytes`,
)

/** Creates the row of a folder unless it exists. Values: workspace, space, key, actor, time. */
export const putFolder = sql(
  'put_drive_folder',
  `insert into drive_objects (workspace_id, space_id, key, created_by, created_at, updated_at) values ($1, $2, $3, $4, $5, $5)
   on conflict on constraint drive_objects_key do nothing`,
)

const folder = `case when strpos(substr(key, length($3::text) + 1), '/') > 0
    then left(key, length($3::text) + strpos(substr(key, length($3::text) + 1), '/')) end as folder`

/**
 * Reads `count` consecutive keys from `first`. `is_shown` marks each file and the first key of each folder; `is_last` marks the last key of
 * the stretch, after which the next stretch begins.
 */
const stretch = (first: string, count: string): string =>
  `select found.*, folder is null or folder is distinct from lag(folder) over keys as is_shown, lead(key) over keys is null as is_last
   from (
     select ${columns}, ${folder} from drive_objects
     where workspace_id = $1 and space_id = $2 and key >= ${first} and key < $5 order by key limit ${count}
   ) as found window keys as (order by key)`

/**
 * The folders and files directly in a folder, in the order of their keys. After a folder, the query skips along the index to the first key
 * behind that folder, so its cost depends on the rows shown and not on the files below. After a file it reads 128 keys at once, since more
 * files may follow: 201 files take 1.4 ms, and 3.6 ms with a lookup for each. Values: workspace, space, prefix, first key that may be
 * shown, first key behind the folder, maximum number of rows.
 */
export const findFolderPage = sql(
  'find_drive_level',
  `with recursive level as (
     (${stretch('$4', '32')})
     union all
     select next.* from level cross join lateral (
       ${stretch(
         "case when level.folder is null then level.key || chr(1) else left(level.folder, -1) || '0' end",
         'case when level.folder is null then 128 else 2 end',
       )}
     ) as next
     where level.is_last
   )
   select ${columns}, folder from level where is_shown limit $6`,
)

/** A file's name in lower case, as the indexes drive_objects_named and drive_objects_named_short contain it. */
const nameSql = lowerCaseSql("split_part(key, '/', -1)")

/**
 * Number of keys that a search compares one by one before it uses an index of names; comparing them takes as long as a search of the index.
 */
const nearKeys = 2_000

const named = (name: string, condition: string) =>
  sql(
    name,
    `with near as materialized (
     select ${columns} from drive_objects
     where workspace_id = $1 and space_id = $2 and key >= $3 and key < $4 order by key limit ${nearKeys}
   ),
   matching as materialized (select * from near where blob_id is not null and ${nameSql} like $5 order by key limit $6),
   state as materialized (
     select (select count(*) from matching) >= $6::bigint or (select count(*) from near) < ${nearKeys} as is_enough
   ),
   further as materialized (
     select ${columns} from drive_objects
     where not (select is_enough from state)
       and workspace_id = $1 and space_id = $2 and key >= $3 and key < $4 and blob_id is not null and ${nameSql} like $5 ${condition}
   )
   select * from matching where (select is_enough from state)
   union all
   select * from further
   order by key limit $6`,
  )

const namedByTrigrams = named('find_drive_objects_named', '')
const namedByPairs = named('find_drive_objects_named_short', `and ${letterPairsSql(nameSql)} @> $7::text[]`)

/**
 * Files whose name contains `q`, in the order of their keys, from the key `from` up to but not including `behind`. The query first compares
 * the next 2,000 keys, which are all of a small space and enough of a large one with many matches. If they are not enough, it uses an index
 * of names, which covers the whole space. The statement is planned for its values, since a generic plan compares every key (measured with
 * 1,000,000 files and no match: 8 s instead of 10 ms; with text of two letters 3 s).
 */
export function findObjectsByName(workspaceId: string, spaceId: string, from: string, behind: string, q: string, limit: number): Statement {
  const text = lowerCase(q)
  const values = [workspaceId, spaceId, from, behind, `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`, limit]
  return asHeavy(asUnprepared(hasTrigram(text) ? namedByTrigrams(...values) : namedByPairs(...values, letterPairs(text))), 'q')
}

/** The most recently changed files of spaces. Values: workspace, spaces, maximum number. */
export const findRecentObjects = sql(
  'find_recent_drive_objects',
  `select found.*, space.id as bucket_id, space.key as bucket_key
   from drive_spaces as space cross join lateral (
     select ${columns} from drive_objects
     where workspace_id = $1 and space_id = space.id and blob_id is not null
     order by updated_at desc, key desc limit $3
   ) as found
   where space.workspace_id = $1 and space.id = any($2)
   order by found.updated_at desc, found.key desc, space.id limit $3`,
)

/** Number and bytes of the files of spaces by content type, most bytes first. Values: workspace, spaces. */
export const findTypeTotals = sql(
  'find_drive_types',
  `select content_type, sum(files)::bigint as count, sum(bytes)::bigint as bytes from drive_totals
   where workspace_id = $1 and space_id = any($2) group by content_type having sum(files) > 0
   order by sum(bytes) desc, content_type`,
)

// The statements below work on a range of keys (`rangeOf`): a file alone, or a folder with everything below it.

/**
 * Number of rows and of files in a range, and the bytes of its longest key. Values: workspace, space, first key, exclusive end, maximum
 * number of rows to count.
 */
export const countRange = sql(
  'count_drive_objects_in',
  `select count(*) as rows, count(blob_id) as files, coalesce(max(octet_length(key)), 0) as longest from (
     select key, blob_id from drive_objects where workspace_id = $1 and space_id = $2 and key >= $3 and key < $4 order by key limit $5
   ) as found`,
)

/** Deletes the rows of a range; returns the number and bytes of the deleted files. Values: workspace, space, first key, exclusive end. */
export const deleteRange = sql(
  'delete_drive_objects_in',
  `with gone as (
     delete from drive_objects where workspace_id = $1 and space_id = $2 and key >= $3 and key < $4 returning blob_id, size_bytes
   )
   select count(blob_id) as files, coalesce(sum(size_bytes), 0)::bigint as bytes from gone`,
)

/**
 * Before a range moves: deletes those of its folder rows whose new key is already taken by a row outside the range. Values: workspace,
 * space, first key, exclusive end, new first key.
 */
export const deleteDuplicateFolders = sql(
  'delete_met_drive_folders',
  `delete from drive_objects as made
   where workspace_id = $1 and space_id = $2 and key >= $3 and key < $4 and blob_id is null
     and exists (
       select from drive_objects as other
       where other.workspace_id = $1 and other.space_id = $2 and other.key = $5 || substr(made.key, length($3) + 1)
         and not (other.key >= $3 and other.key < $4)
     )`,
)

/** Moves a range; returns the number of moved rows and files. Values: workspace, space, first key, exclusive end, new first key. */
export const moveRange = sql(
  'move_drive_objects_in',
  `with moved as (
     update drive_objects set key = $5 || substr(key, length($3) + 1)
     where workspace_id = $1 and space_id = $2 and key >= $3 and key < $4 returning blob_id
   )
   select count(*) as rows, count(blob_id) as files from moved`,
)
