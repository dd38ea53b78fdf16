import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

declareConflicts({
  sites_cap: ['VALIDATION_ERROR', 'a workspace can have 100 websites; delete some first'],
  sites_key: ['KEY_TAKEN', 'key is used by another website'],
  site_content_site: ['NOT_FOUND', 'Not found'],
})

const columns = 'id, key, name, published, created_at, updated_at'

/** All websites of a workspace, oldest first. Values: workspace. */
export const findSites = sql('find_sites', `select ${columns} from sites where workspace_id = $1 and not is_shared order by created_at, id`)

/** One website. Values: workspace, id. */
export const findSite = sql('find_site', `select ${columns} from sites where workspace_id = $1 and id = $2 and not is_shared`)

/** Makes a website. Values: workspace, id, key, name, published, now. */
export const insertSite = sql(
  'insert_site',
  `insert into sites (workspace_id, id, key, name, published, created_at, updated_at) values ($1, $2, $3, $4, $5, $6, $6) returning ${columns}`,
)

/** Changes a website; a null leaves its column as it is. Values: workspace, id, key, name, published, now. */
export const updateSite = sql(
  'update_site',
  `update sites
   set key = coalesce($3, key), name = coalesce($4, name), published = coalesce($5, published),
     updated_at = greatest($6::timestamptz, updated_at + interval '1 microsecond')
   where workspace_id = $1 and id = $2 and not is_shared returning ${columns}`,
)

/** Lets nobody write into a website until the transaction ends. Values: workspace, id. */
export const lockSite = sql('lock_site', 'select id from sites where workspace_id = $1 and id = $2 and not is_shared for update')

/** Deletes a website with all that stands in it, and tells how many bytes of files that were. Values: workspace, id. */
export const deleteSite = sql(
  'delete_site',
  `with gone as (delete from sites where workspace_id = $1 and id = $2 and not is_shared returning id)
   select (select coalesce(sum(size_bytes), 0)::bigint from site_content where workspace_id = $1 and site_id = $2) as bytes from gone`,
)

/** The place of what all websites share; made where it is missing. Values: workspace, id, now. */
export const ensureAssets = sql(
  'ensure_assets',
  `insert into sites (workspace_id, id, key, name, published, is_shared, created_at, updated_at)
   values ($1, $2, 'assets', 'Assets', true, true, $3, $3) on conflict (workspace_id, key) do nothing`,
)
/** Values: workspace. */
export const findAssets = sql('find_assets', 'select id from sites where workspace_id = $1 and is_shared')
