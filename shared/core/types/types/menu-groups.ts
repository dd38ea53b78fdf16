import type { Scope } from '#shared/core/scope/scope.ts'
import type { Module, ModuleInput } from '#shared/core/types/types/menu-groups-schemas.ts'
import { deleteModuleRow, findModules, saveModuleRow } from '#shared/core/types/types/menu-groups-store.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'

/** Maximum menu groups of a workspace: lists of them are not paged. */
export const maxModules = 500

/** Lists the menu groups of a workspace by position, then by slug. */
export const listModules = ({ db, workspace }: Scope): Promise<Module[]> => db.query(findModules({ workspaceId: workspace.id }))

/** Creates a menu group, or changes the one with the same slug. `created` says which. */
export async function saveModule({ db, workspace }: Scope, input: ModuleInput): Promise<{ module: Module; created: boolean }> {
  const { slug, name, glyph, category, position } = input
  const [saved] = await db.query(
    saveModuleRow({
      workspaceId: workspace.id,
      slug,
      name,
      glyph: orClear(glyph, ''),
      category: orClear(category, ''),
      position: orClear(position, 0),
      maxModules,
    }),
  )
  if (!saved) throw problem('VALIDATION_ERROR', `a workspace has at most ${maxModules} menu groups`)
  const { created, ...module } = saved
  return { module, created }
}

/** The statement's parameter: null leaves the column unchanged, `empty` clears it. */
const orClear = <T>(value: T | null | undefined, empty: T): T | null => (value === undefined ? null : (value ?? empty))

/** Deletes a menu group; types that name it keep its slug. Throws NOT_FOUND. */
export async function deleteModule({ db, workspace }: Scope, slug: string): Promise<void> {
  requireRow(await db.query(deleteModuleRow({ workspaceId: workspace.id, slug })))
}
