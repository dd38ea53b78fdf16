import { bigint, boolean, double, selectList, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const columns = { slug: text.notNull, name: text.notNull, glyph: text.notNull, category: text.notNull, position: double.notNull }

/** The menu groups of a workspace in their order. */
export const findModules = statement(
  'types.findModules',
  `select ${selectList(columns)} from modules where workspace_id = $workspaceId order by position, slug`,
  { params: { workspaceId: uuid }, columns },
)

/** Deletes a menu group; no row when there is none. */
export const deleteModuleRow = statement(
  'types.deleteModuleRow',
  'delete from modules where workspace_id = $workspaceId and slug = $slug returning slug',
  { params: { workspaceId: uuid, slug: text }, columns: { slug: text.notNull } },
)

/**
 * Creates a menu group, or changes the one with this slug, where a null leaves a column unchanged; no row when the workspace already has
 * `maxModules`.
 */
export const saveModuleRow = statement(
  'types.saveModuleRow',
  `insert into modules as module (workspace_id, slug, name, glyph, category, position)
   select $workspaceId, $slug, $name, coalesce($glyph::text, ''), coalesce($category::text, ''), coalesce($position::double precision, 0)
   where (select count(*) from modules where workspace_id = $workspaceId and slug <> $slug) < $maxModules
   on conflict (workspace_id, slug) do update
     set name = $name, glyph = coalesce($glyph, module.glyph), category = coalesce($category, module.category),
       position = coalesce($position, module.position)
   returning ${selectList(columns, 'new')}, old.slug is null as created`,
  {
    params: {
      workspaceId: uuid,
      slug: text,
      name: text,
      glyph: text.orNull,
      category: text.orNull,
      position: double.orNull,
      maxModules: bigint,
    },
    columns: { ...columns, created: boolean.notNull },
  },
)
