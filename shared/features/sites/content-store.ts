import { sql } from '#shared/platform/db/statements/statement.ts'

/** What stands at a path: a document's columns or a file's are null. */
export interface ContentRow {
  readonly path: string
  readonly version: string
  readonly published: boolean
  readonly title: string | null
  readonly body: string | null
  readonly fields: Readonly<Record<string, unknown>> | null
  readonly blob_id: string | null
  readonly size_bytes: number | null
  readonly content_type: string | null
  readonly sha256: string | null
  readonly updated_at: string
}

const columns = 'path, version, published, title, body, fields, blob_id, size_bytes, content_type, sha256, updated_at'
const qualified = columns.replaceAll(/\w+/g, 'content.$&')

const later = `greatest(excluded.updated_at, content.updated_at + interval '1 microsecond')`

/**
 * Writes a document at a path; `replaced_bytes` are those of the file that stood there, null where nothing did. Values: workspace, website,
 * path, version, published, title, body, fields, now.
 */
export const putDocument = sql(
  'put_document',
  `insert into site_content as content (workspace_id, site_id, path, version, published, title, body, fields, updated_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8::text::json, $9)
   on conflict (workspace_id, site_id, path) do update
   set version = excluded.version, published = excluded.published, title = excluded.title, body = excluded.body, fields = excluded.fields,
     blob_id = null, size_bytes = null, content_type = null, sha256 = null, updated_at = ${later}
   returning ${qualified}, old.path is not null as was_there, coalesce(old.size_bytes, 0) as replaced_bytes`,
)

/** The same for a file. Values: workspace, website, path, version, blob, size, content type, SHA-256, now. */
export const putContentFile = sql(
  'put_content_file',
  `insert into site_content as content (workspace_id, site_id, path, version, published, blob_id, size_bytes, content_type, sha256, updated_at)
   values ($1, $2, $3, $4, true, $5, $6, $7, $8, $9)
   on conflict (workspace_id, site_id, path) do update
   set version = excluded.version, published = true, title = null, body = null, fields = null, blob_id = excluded.blob_id,
     size_bytes = excluded.size_bytes, content_type = excluded.content_type, sha256 = excluded.sha256, updated_at = ${later}
   returning ${qualified}, old.path is not null as was_there, coalesce(old.size_bytes, 0) as replaced_bytes`,
)

/** What a `put` statement tells beside the row. */
export interface WrittenContentRow extends ContentRow {
  readonly was_there: boolean
  readonly replaced_bytes: number
}

/** What stands at a path. Values: workspace, website, path. */
export const findContent = sql('find_content', `select ${columns} from site_content where workspace_id = $1 and site_id = $2 and path = $3`)

/** What stands below a prefix, by path. Values: workspace, website, prefix, its end, the path to go on after, how many. */
export const listContentRows = sql(
  'list_content',
  `select path, title, content_type, size_bytes as size, published, updated_at from site_content
   where workspace_id = $1 and site_id = $2 and path >= $3 and ($4::text is null or path < $4) and path > $5 order by path limit $6`,
)

/** Deletes what stands at a path. Values: workspace, website, path. */
export const deleteContent = sql(
  'delete_content',
  `delete from site_content where workspace_id = $1 and site_id = $2 and path = $3 returning coalesce(size_bytes, 0) as bytes`,
)

/**
 * What visitors may have of a website at a path: nothing of a draft or of a website that is not published. The body is left out where the
 * visitor has this version. Values: workspace, key of the website, path, versions that the visitor has.
 */
export const findDeliveredContent = sql(
  'find_delivered',
  `select content.path, content.version, content.published, content.title,
     case when content.version::text = any($4::text[]) then null else content.body end as body,
     case when content.version::text = any($4::text[]) then null else content.fields end as fields,
     content.blob_id, content.size_bytes, content.content_type, content.sha256, content.updated_at
   from sites as site
   join site_content as content on content.workspace_id = site.workspace_id and content.site_id = site.id
   where site.workspace_id = $1 and site.key = $2 and site.published and content.path = $3 and content.published`,
)
