import { bigint, boolean, instant, json, type RowOf, selectList, text, texts, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const columns = {
  path: text.notNull,
  version: uuid.notNull,
  published: boolean.notNull,
  title: text,
  body: text,
  fields: json.as<Readonly<Record<string, unknown>>>(),
  blob_id: uuid,
  size_bytes: bigint,
  content_type: text,
  sha256: text,
  updated_at: instant.notNull,
}

/** The content at a path: title, body and fields are null for a file, the others that may be null for a document. */
export type ContentRow = RowOf<typeof columns>

const writtenColumns = {
  ...columns,
  /** Whether the path had content before. */
  was_there: boolean.notNull,
  /** Size of the replaced file; 0 for none. */
  replaced_bytes: bigint.notNull,
}
const writtenList = `${selectList(columns, 'content')}, old.path is not null as was_there, coalesce(old.size_bytes, 0) as replaced_bytes`

const later = `greatest(excluded.updated_at, content.updated_at + interval '1 microsecond')`

/** Writes a document at a path. */
export const putDocument = statement(
  'sites.putDocument',
  `insert into site_content as content (workspace_id, site_id, path, version, published, title, body, fields, updated_at)
   values ($workspaceId, $siteId, $path, $version, $published, $title, $body, $fields::text::json, $updatedAt)
   on conflict (workspace_id, site_id, path) do update
   set version = excluded.version, published = excluded.published, title = excluded.title, body = excluded.body, fields = excluded.fields,
     blob_id = null, size_bytes = null, content_type = null, sha256 = null, updated_at = ${later}
   returning ${writtenList}`,
  {
    params: {
      workspaceId: uuid,
      siteId: uuid,
      path: text,
      version: uuid,
      published: boolean,
      title: text,
      body: text,
      /** JSON text. */
      fields: text,
      updatedAt: instant,
    },
    columns: writtenColumns,
  },
)

/** Writes a file at a path. */
export const putContentFile = statement(
  'sites.putContentFile',
  `insert into site_content as content (
     workspace_id, site_id, path, version, published, blob_id, size_bytes, content_type, sha256, updated_at
   )
   values ($workspaceId, $siteId, $path, $version, true, $blobId, $sizeBytes, $contentType, $sha256, $updatedAt)
   on conflict (workspace_id, site_id, path) do update
   set version = excluded.version, published = true, title = null, body = null, fields = null, blob_id = excluded.blob_id,
     size_bytes = excluded.size_bytes, content_type = excluded.content_type, sha256 = excluded.sha256, updated_at = ${later}
   returning ${writtenList}`,
  {
    params: {
      workspaceId: uuid,
      siteId: uuid,
      path: text,
      version: uuid,
      blobId: uuid,
      sizeBytes: bigint,
      contentType: text,
      sha256: text,
      updatedAt: instant,
    },
    columns: writtenColumns,
  },
)

/** The content at a path. */
export const findContent = statement(
  'sites.findContent',
  `select ${selectList(columns)} from site_content where workspace_id = $workspaceId and site_id = $siteId and path = $path`,
  { params: { workspaceId: uuid, siteId: uuid, path: text }, columns },
)

/** A page of the content from `prefix` to `end` (exclusive; null for no end), by path, after a path. */
export const findContentEntries = statement(
  'sites.findContentEntries',
  `select path, title, content_type, size_bytes as size, published, updated_at from site_content
   where workspace_id = $workspaceId and site_id = $siteId
     and path >= $prefix and ($end::text is null or path < $end) and path > $afterPath
   order by path limit $limit`,
  {
    params: { workspaceId: uuid, siteId: uuid, prefix: text, end: text.orNull, afterPath: text, limit: bigint },
    columns: {
      path: text.notNull,
      title: text,
      content_type: text,
      size: bigint,
      published: boolean.notNull,
      updated_at: instant.notNull,
    },
  },
)

/** Deletes the content at a path, and returns how many bytes it had as a file. */
export const deleteContent = statement(
  'sites.deleteContent',
  `delete from site_content where workspace_id = $workspaceId and site_id = $siteId and path = $path
   returning coalesce(size_bytes, 0) as bytes`,
  { params: { workspaceId: uuid, siteId: uuid, path: text }, columns: { bytes: bigint.notNull } },
)

/**
 * The published content of a published website at a path. Body and fields are null when the visitor has the current version, which is then
 * among `knownVersions`.
 */
export const findDeliveredContent = statement(
  'sites.findDeliveredContent',
  `select content.path, content.version, content.published, content.title,
     case when content.version::text = any($knownVersions::text[]) then null else content.body end as body,
     case when content.version::text = any($knownVersions::text[]) then null else content.fields end as fields,
     content.blob_id, content.size_bytes, content.content_type, content.sha256, content.updated_at
   from sites as site
   join site_content as content on content.workspace_id = site.workspace_id and content.site_id = site.id
   where site.workspace_id = $workspaceId and site.key = $siteKey and site.published and content.path = $path and content.published`,
  { params: { workspaceId: uuid, siteKey: text, path: text, knownVersions: texts }, columns },
)
