import { moduleSlug, typeKey } from '#shared/core/types/schemas.ts'
import { maxLayoutHintsLength, readLayoutHints } from '#shared/core/types/types/layout-hints.ts'
import type { StoredType } from '#shared/core/types/types/store.ts'
import { instant, nullable, schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

const label = t.String({ minLength: 1, maxLength: 100 })
const icon = t.Optional(nullable(t.String({ maxLength: 32, description: 'The name of an icon.' })))
const app = t.Optional(
  nullable(t.Union([moduleSlug, t.Literal('')], { description: 'The slug of the menu group that shows the type; it need not exist yet.' })),
)
const ui = t.Optional(
  t.Unknown({
    description: `Layout hints: a JSON string of up to ${maxLayoutHintsLength} characters that holds an object, or the object itself. Known hints are {child: true} for a type that exists only under another, and {lines: {type, ref}} for line items.`,
  }),
)

/** The input that creates a record type (docs/contract/types-and-fields.md#record-types); null counts as not sent. */
export const typeInput = schema(t.Object({ key: typeKey, label, icon, app, ui }))
export type TypeInput = TypeOf<typeof typeInput>

/** The input that changes a record type: omitted properties stay unchanged; null clears any property but the label. */
export const typeChange = schema(
  t.Object({
    label: t.Optional(label),
    icon,
    app,
    ui,
    description: t.Optional(nullable(t.String({ maxLength: 2_000 }))),
  }),
)
export type TypeChange = TypeOf<typeof typeChange>

/** A record type in responses. */
export const typeView = schema(
  t.Object(
    {
      id: t.Optional(t.String({ format: 'uuid', description: 'Absent on built-in types.' })),
      key: t.String(),
      label: t.String(),
      icon: t.String(),
      app: t.String({ description: 'The slug of the menu group that shows the type, or empty.' }),
      ui: t.Record(t.String(), t.Unknown(), { description: 'Layout hints.' }),
      description: t.String(),
      record_count: t.Integer({ description: 'Exact.' }),
      created_at: instant,
      system: t.Boolean({ description: 'True for built-in types, which cannot be deleted.' }),
    },
    { title: 'RecordType', description: 'What kind of thing a record is: its fields say what records of the type hold.' },
  ),
)
export type TypeView = TypeOf<typeof typeView>

/** Converts a stored type to its response form. */
export const toTypeView = ({ id, ui: hints, ...type }: StoredType): TypeView => ({
  ...(type.system ? {} : { id }),
  ...type,
  ui: readLayoutHints(hints),
})
