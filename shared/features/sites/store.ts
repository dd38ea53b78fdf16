import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { bigint, boolean, instant, selectList, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

declareConflicts({
  sites_cap: ['VALIDATION_ERROR', 'a workspace can have 100 websites; delete some first'],
  sites_key: ['KEY_TAKEN', 'key is used by another website'],
  site_content_site: ['NOT_FOUND', 'Not found'],
})

const columns = {
  id: uuid.notNull,
  key: text.notNull,
  name: text.notNull,
  published: boolean.notNull,
  created_at: instant.notNull,
  updated_at: instant.notNull,
}
const list = selectList(columns)

/** All websites of a workspace, oldest first. */
export const findSites = statement(
  'sites.findSites',
  `select ${list} from sites where workspace_id = $workspaceId and not is_shared order by created_at, id`,
  { params: { workspaceId: uuid }, columns },
)

/** One website. */
export const findSite = statement(
  'sites.findSite',
  `select ${list} from sites where workspace_id = $workspaceId and id = $id and not is_shared`,
  { params: { workspaceId: uuid, id: uuid }, columns },
)

/** Inserts a website. */
export const insertSite = statement(
  'sites.insertSite',
  `insert into sites (workspace_id, id, key, name, published, created_at, updated_at)
   values ($workspaceId, $id, $key, $name, $published, $createdAt, $createdAt) returning ${list}`,
  { params: { workspaceId: uuid, id: uuid, key: text, name: text, published: boolean, createdAt: instant }, columns },
)

/** Changes a website; a null leaves its column unchanged. */
export const updateSite = statement(
  'sites.updateSite',
  `update sites
   set key = coalesce($key, key), name = coalesce($name, name), published = coalesce($published, published),
     updated_at = greatest($updatedAt::timestamptz, updated_at + interval '1 microsecond')
   where workspace_id = $workspaceId and id = $id and not is_shared returning ${list}`,
  {
    params: { workspaceId: uuid, id: uuid, key: text.orNull, name: text.orNull, published: boolean.orNull, updatedAt: instant },
    columns,
  },
)

/** Locks a website's row until the transaction ends, so that nobody writes content to it. */
export const lockSite = statement(
  'sites.lockSite',
  'select id from sites where workspace_id = $workspaceId and id = $id and not is_shared for update',
  { params: { workspaceId: uuid, id: uuid }, columns: { id: uuid.notNull } },
)

/** Deletes a website with its content, and returns how many bytes its files had. */
export const deleteSite = statement(
  'sites.deleteSite',
  `with gone as (delete from sites where workspace_id = $workspaceId and id = $id and not is_shared returning id)
   select (
     select coalesce(sum(size_bytes), 0)::bigint from site_content where workspace_id = $workspaceId and site_id = $id
   ) as bytes from gone`,
  { params: { workspaceId: uuid, id: uuid }, columns: { bytes: bigint.notNull } },
)

/** Inserts, unless it exists, the hidden website that holds the files which all websites share. */
export const ensureAssets = statement(
  'sites.ensureAssets',
  `insert into sites (workspace_id, id, key, name, published, is_shared, created_at, updated_at)
   values ($workspaceId, $id, 'assets', 'Assets', true, true, $createdAt, $createdAt) on conflict (workspace_id, key) do nothing`,
  { params: { workspaceId: uuid, id: uuid, createdAt: instant } },
)

/** The hidden website of the shared files. */
export const findAssets = statement('sites.findAssets', 'select id from sites where workspace_id = $workspaceId and is_shared', {
  params: { workspaceId: uuid },
  columns: { id: uuid.notNull },
})
