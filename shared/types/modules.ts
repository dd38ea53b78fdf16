import { sql } from '#shared/db/statement.ts'
import { problem } from '#shared/kernel/errors.ts'
import { nullable, schema, type TypeOf, t } from '#shared/kernel/schema.ts'
import type { Scope } from '#shared/scope/scope.ts'
import { moduleSlug } from '#shared/types/keys.ts'

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

const columns = 'slug, name, glyph, category, position'
const list = sql('find_modules', `select ${columns} from modules where workspace_id = $1 order by position, slug`)
const remove = sql('delete_module', 'delete from modules where workspace_id = $1 and slug = $2 returning slug')
const save = sql(
  'save_module',
  `insert into modules as module (workspace_id, slug, name, glyph, category, position)
   select $1, $2, $3, coalesce($4::text, ''), coalesce($5::text, ''), coalesce($6::double precision, 0)
   where (select count(*) from modules where workspace_id = $1 and slug <> $2) < $7
   on conflict (workspace_id, slug) do update
     set name = $3, glyph = coalesce($4, module.glyph), category = coalesce($5, module.category), position = coalesce($6, module.position)
   returning new.slug, new.name, new.glyph, new.category, new.position, old.slug is null as created`,
)

/** The menu groups of a workspace in their order. */
export const listModules = ({ db, workspace }: Scope): Promise<Module[]> => db.query<Module>(list(workspace.id))

/** Makes a menu group, or changes the one that has the slug, and tells which. */
export async function saveModule({ db, workspace }: Scope, input: ModuleInput): Promise<{ module: Module; created: boolean }> {
  const { slug, name, glyph, category, position } = input
  const rest = [orClear(glyph, ''), orClear(category, ''), orClear(position, 0)]
  const [saved] = await db.query<Module & { readonly created: boolean }>(save(workspace.id, slug, name, ...rest, maxModules))
  if (!saved) throw problem('VALIDATION_ERROR', `a workspace has at most ${maxModules} menu groups`)
  const { created, ...module } = saved
  return { module, created }
}

/** What the statement stores: null leaves the column as it is. */
const orClear = <T>(value: T | null | undefined, empty: T): T | null => (value === undefined ? null : (value ?? empty))

/** Removes a menu group; types that name it keep its slug. Throws NOT_FOUND. */
export async function deleteModule({ db, workspace }: Scope, slug: string): Promise<void> {
  const removed = await db.query(remove(workspace.id, slug))
  if (removed.length === 0) throw problem('NOT_FOUND')
}
