import type { Scope } from '#shared/core/scope/scope.ts'
import { moduleSlug } from '#shared/core/types/keys.ts'
import { deleteModuleRow, findModules, saveModuleRow } from '#shared/core/types/types/menu-groups-store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { nullable, schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

/** Menu groups that a workspace may have: lists of them come whole. */
export const maxModules = 500

const text = t.Optional(nullable(t.String({ maxLength: 32 })))

/** What makes or changes a menu group (document 1, Menu group): when it changes one, what is left out stays and null clears. */
export const moduleInput = schema(
  t.Object({
    slug: moduleSlug,
    name: t.String({ minLength: 1, maxLength: 100 }),
    glyph: text,
    category: text,
    position: t.Optional(nullable(t.Number({ description: 'Groups stand in the order of their positions; 0 unless given.' }))),
  }),
)
type ModuleInput = TypeOf<typeof moduleInput>

/** A menu group as callers read it. */
export const moduleView = schema(
  t.Object(
    { slug: t.String(), name: t.String(), glyph: t.String(), category: t.String(), position: t.Number() },
    { title: 'Module', description: 'A group of the menu; record types name theirs by its slug.' },
  ),
)
type Module = TypeOf<typeof moduleView>

/** The menu groups of a workspace in their order. */
export const listModules = ({ db, workspace }: Scope): Promise<Module[]> => db.query<Module>(findModules(workspace.id))

/** Makes a menu group, or changes the one that has the slug, and tells which. */
export async function saveModule({ db, workspace }: Scope, input: ModuleInput): Promise<{ module: Module; created: boolean }> {
  const { slug, name, glyph, category, position } = input
  const rest = [orClear(glyph, ''), orClear(category, ''), orClear(position, 0)]
  const [saved] = await db.query<Module & { readonly created: boolean }>(saveModuleRow(workspace.id, slug, name, ...rest, maxModules))
  if (!saved) throw problem('VALIDATION_ERROR', `a workspace has at most ${maxModules} menu groups`)
  const { created, ...module } = saved
  return { module, created }
}

/** What the statement stores: null leaves the column as it is. */
const orClear = <T>(value: T | null | undefined, empty: T): T | null => (value === undefined ? null : (value ?? empty))

/** Removes a menu group; types that name it keep its slug. Throws NOT_FOUND. */
export async function deleteModule({ db, workspace }: Scope, slug: string): Promise<void> {
  const removed = await db.query(deleteModuleRow(workspace.id, slug))
  if (removed.length === 0) throw problem('NOT_FOUND')
}
