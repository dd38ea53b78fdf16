import { fieldTypes } from '#shared/platform/kernel/field-type.ts'
import { schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

/** A field as programs see it that read and write records (docs/contract/records.md#readable-types). */
const readableField = t.Object(
  {
    key: t.String(),
    label: t.String(),
    type: t.Enum([...fieldTypes]),
    options: t.Array(t.String(), { description: 'Of a select or multiselect field; empty for others.' }),
    computed: t.Boolean({ description: 'A formula gives the value; what is sent is ignored.' }),
    needed: t.Boolean({ description: 'A creation must send a value: the field is required, and has no default and no number.' }),
    required: t.Boolean({ description: 'A change cannot clear the value.' }),
    sometimes_hidden: t.Boolean({ description: 'Whether you may not read the field in some records.' }),
  },
  { title: 'ReadableField' },
)

const readableType = t.Object(
  { key: t.String(), label: t.String(), fields: t.Array(readableField) },
  { title: 'ReadableType', description: 'A record type with the fields that the caller may read.' },
)

export const readableTypes = schema(t.Array(readableType))

export type ReadableType = TypeOf<typeof readableTypes>[number]
export type ReadableField = ReadableType['fields'][number]
