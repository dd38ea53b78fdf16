import type { Field } from '#shared/core/types/fields/field.ts'
import { rulesToJson } from '#shared/core/types/fields/rules.ts'
import { fieldKey } from '#shared/core/types/schemas.ts'
import { fieldTypes } from '#shared/platform/kernel/field-type.ts'
import { instant, nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

/** A field's label and description, the same in every schema. */
const fieldLabel = t.String({ minLength: 1, maxLength: 100 })
const fieldDescription = t.String({ maxLength: 255, description: 'Up to 255 characters; empty for none.' })

const flag = (meaning: string) => t.Optional(nullable(t.Boolean({ description: meaning })))

/** The input that creates a field (docs/contract/types-and-fields.md#fields); null counts as not sent. */
export const fieldInput = schema(
  t.Object({
    entity_type: t.String({ description: 'The key of the record type that gets the field.' }),
    key: fieldKey,
    label: fieldLabel,
    type: t.Enum([...fieldTypes]),
    required: flag('No record is saved without a value.'),
    unique: flag('No two records hold the same value.'),
    immutable: flag('The value of a record cannot be changed after its creation.'),
    rules: t.Optional(
      t.Unknown({ description: 'An object of rules, such as {max_len: 20, default: "new"}; each field type has its own rules.' }),
    ),
    description: t.Optional(nullable(fieldDescription)),
  }),
)
export type FieldInput = TypeOf<typeof fieldInput>

/** The shape of `fieldChange`, for schemas that contain it. */
export const fieldChangeShape = t.Object(
  {
    label: t.Optional(fieldLabel),
    description: t.Optional(nullable(fieldDescription)),
    required: t.Optional(nullable(t.Boolean({ description: 'No record is saved without a value.' }))),
    rules: t.Optional(
      t.Unknown({
        description: 'All rules that the field has from now on. A formula stays as it is, and may be sent back as it was read.',
      }),
    ),
  },
  { title: 'FieldChange' },
)

/** The input that changes a field: omitted properties stay unchanged; null clears an optional one. */
export const fieldChange = schema(fieldChangeShape)
export type FieldChange = TypeOf<typeof fieldChange>

/** A new description of a field; null clears it like empty text. */
export const descriptionInput = schema(t.Object({ description: nullable(fieldDescription) }))

/** The new target type of a reference field. */
export const refTypeInput = schema(t.Object({ ref_type: t.String({ description: 'The key of an existing record type.' }) }))

/** A field in responses. */
export const fieldView = schema(
  t.Object(
    {
      id: uuid,
      entity_type: t.String({ description: 'The key of the record type.' }),
      key: t.String(),
      label: t.String(),
      type: t.Enum([...fieldTypes]),
      required: t.Boolean(),
      unique: t.Boolean(),
      immutable: t.Boolean(),
      autogen: t.String({ description: 'The auto-numbering pattern; empty when off.' }),
      description: fieldDescription,
      rules: t.Record(t.String(), t.Unknown(), { description: 'The rules, in the form in which they are sent.' }),
      created_at: instant,
      system: t.Boolean({ description: 'True for fields built into built-in types, which cannot be changed or deleted.' }),
    },
    { title: 'Field', description: 'Definition of one value of the records of a type.' },
  ),
)
export type FieldView = TypeOf<typeof fieldView>

/** Converts a field to its response form. */
export const toFieldView = ({
  entityType,
  createdAt,
  rules,
  column: _,
  codeColumn: __,
  reads: ___,
  staleReads: ____,
  revision: _____,
  ...field
}: Field): FieldView => ({
  ...field,
  entity_type: entityType,
  rules: rulesToJson(rules, field.type),
  created_at: createdAt,
})
