import { moduleSlug } from '#shared/core/types/schemas.ts'
import { nameSchema } from '#shared/platform/kernel/name.ts'
import { nullable, schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

const text = t.Optional(nullable(t.String({ maxLength: 32 })))

/**
 * The input that creates or changes a menu group (docs/contract/types-and-fields.md#modules). On change, omitted properties stay unchanged;
 * null clears an optional one.
 */
export const moduleInput = schema(
  t.Object({
    slug: moduleSlug,
    name: nameSchema(100),
    glyph: text,
    category: text,
    position: t.Optional(nullable(t.Number({ description: 'Groups are sorted by position; default: 0.' }))),
  }),
)
export type ModuleInput = TypeOf<typeof moduleInput>

/** A menu group in responses. */
export const moduleView = schema(
  t.Object(
    { slug: t.String(), name: t.String(), glyph: t.String(), category: t.String(), position: t.Number() },
    { title: 'Module', description: 'A group of the menu; record types name theirs by its slug.' },
  ),
)
export type Module = TypeOf<typeof moduleView>
