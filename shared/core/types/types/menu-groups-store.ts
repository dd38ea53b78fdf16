import { sql } from '#shared/platform/db/statements/statement.ts'

const columns = 'slug, name, glyph, category, position'

/** The menu groups of a workspace in their order. Values: workspace. */
export const findModules = sql('find_modules', `select ${columns} from modules where workspace_id = $1 order by position, slug`)

/** Deletes a menu group; no row when there is none. Values: workspace, slug. */
export const deleteModuleRow = sql('delete_module', 'delete from modules where workspace_id = $1 and slug = $2 returning slug')

/**
 * Creates a menu group, or changes the one with this slug, where a null leaves a column as it is; no row when the workspace already has the
 * maximum number of groups. Values: workspace, slug, name, glyph, category, position, maximum of groups.
 */
export const saveModuleRow = sql(
  'save_module',
  `insert into modules as module (workspace_id, slug, name, glyph, category, position)
   select $1, $2, $3, coalesce($4::text, ''), coalesce($5::text, ''), coalesce($6::double precision, 0)
   where (select count(*) from modules where workspace_id = $1 and slug <> $2) < $7
   on conflict (workspace_id, slug) do update
     set name = $3, glyph = coalesce($4, module.glyph), category = coalesce($5, module.category), position = coalesce($6, module.position)
   returning new.slug, new.name, new.glyph, new.category, new.position, old.slug is null as created`,
)
