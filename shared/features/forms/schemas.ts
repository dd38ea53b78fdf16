import { warningsSchema } from '#shared/core/scope/schemas.ts'
import { maxOptionLength, maxOptions } from '#shared/core/types/field-kinds/choice.ts'
import { fieldKey } from '#shared/core/types/schemas.ts'
import { cursorParameters } from '#shared/platform/db/lists.ts'
import { fieldTypes } from '#shared/platform/kernel/field-type.ts'
import { nameSchema } from '#shared/platform/kernel/name.ts'
import { instant, nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

/** Field types that a visitor can fill in: all but those that refer to files and records of the workspace. */
const visitorTypes = fieldTypes.filter((type) => type !== 'file' && type !== 'ref' && type !== 'refs')

/** A form's key, which is in its public address. */
const formKey = t.String({
  pattern: '^[a-z0-9][a-z0-9_-]{1,63}$',
  description: '2 to 64 lowercase letters, digits, hyphens and underscores, starting with a letter or digit',
})

const option = t.String({ minLength: 1, maxLength: maxOptionLength })

const fieldParts = {
  key: fieldKey,
  label: nameSchema(200),
  type: t.Enum([...visitorTypes]),
}
const options = t.Array(option, { minItems: 1, maxItems: maxOptions, uniqueItems: true, description: 'Of select and multiselect fields.' })

const sentField = t.Object({ ...fieldParts, required: t.Optional(t.Boolean()), options: t.Optional(options) }, { title: 'FormFieldInput' })
const keptField = t.Object({ ...fieldParts, required: t.Boolean(), options: t.Optional(options) }, { title: 'FormField' })
export type FormField = TypeOf<typeof keptFieldSchema>
const keptFieldSchema = schema(keptField)

/** The maximum number of fields of a form. */
export const maxFormFields = 100

/** The maximum number of options of all fields of a form. A larger stored form works until it is saved again. */
export const maxFormOptions = 2_000

const settingParts = {
  submit_label: t.String({ maxLength: 80, description: 'Text of the button; empty for the default.' }),
  success_message: t.String({ maxLength: 2_000, description: 'Text shown after sending.' }),
  redirect: t.String({ maxLength: 2_000, description: 'Absolute http or https address that opens after sending; empty for none.' }),
}

const target = nullable(t.Object({ object_type: t.String({ description: 'Key of the record type that submissions create.' }) }))

/** Input that creates or replaces a form. */
export const formInput = schema(
  t.Object(
    {
      key: formKey,
      name: nameSchema(200),
      description: t.Optional(t.String({ maxLength: 5_000, description: 'Markdown, without HTML and pictures.' })),
      fields: t.Array(sentField, { maxItems: maxFormFields, description: `With ${maxFormOptions} options in all at most.` }),
      settings: t.Optional(t.Object(t.Partial(t.Object(settingParts)).properties)),
      target: t.Optional(target),
      function_id: t.Optional(nullable(t.String({ format: 'uuid', description: 'A function that gets each submission.' }))),
      published: t.Optional(t.Boolean()),
    },
    { title: 'FormInput' },
  ),
)
export type FormInput = TypeOf<typeof formInput>

const settings = t.Object(settingParts)
export type FormSettings = TypeOf<typeof settingsSchema>
const settingsSchema = schema(settings)

/** A form as its authors see it. */
const formSchema = t.Object(
  {
    id: uuid,
    key: t.String(),
    name: t.String(),
    description: t.String({ description: 'Markdown source.' }),
    fields: t.Array(keptField),
    settings,
    target,
    function_id: nullable(uuid),
    published: t.Boolean({ description: 'Whether visitors can open the form.' }),
    edited_by: nullable(t.String({ format: 'uuid', description: 'Last editor, whose rights apply to records and functions.' })),
    created_at: instant,
    updated_at: instant,
    warnings: t.Optional(warningsSchema),
  },
  { title: 'Form' },
)
export const form = schema(formSchema)
export const formList = schema(t.Array(formSchema))
export type Form = TypeOf<typeof form>

/** A form as visitors see it (docs/contract/public.md#form-definition). */
export const formDefinition = schema(
  t.Object(
    {
      key: t.String(),
      name: t.String(),
      description: t.String({ description: 'Markdown source.' }),
      fields: t.Array(keptField),
      settings: t.Object({ submit_label: settingParts.submit_label, success_message: settingParts.success_message }),
    },
    { title: 'FormDefinition' },
  ),
)
export type FormDefinition = TypeOf<typeof formDefinition>

/** The answers of a visitor, by field key. */
export const answersInput = schema(t.Object({ values: t.Record(t.String(), t.Unknown()) }, { title: 'FormAnswers' }))

/** The answer to a visitor who has submitted a form. */
export const thanks = schema(
  t.Object(
    { ok: t.Literal(true), message: t.String(), redirect: t.String({ description: 'Address to open next; empty for none.' }) },
    { title: 'FormThanks' },
  ),
)
export type Thanks = TypeOf<typeof thanks>

const submissionSchema = t.Object(
  {
    id: uuid,
    values: t.Record(t.String(), t.Unknown()),
    record_id: nullable(t.String({ format: 'uuid', description: 'The record that was created from the submission.' })),
    error: nullable(
      t.String({
        description:
          'Why processing failed: the error code and message; `function failed`, with the words of the function for holders of functions:create on it.',
      }),
    ),
    spam: nullable(t.String({ description: 'Why the submission counts as spam; such a submission is processed only after a retry.' })),
    state: t.Enum(['kept', 'waiting', 'running', 'done', 'failed'], {
      description: 'State of the processing. kept: the submission is not processed, as for spam.',
    }),
    created_at: instant,
  },
  { title: 'FormSubmission' },
)
export const submission = schema(submissionSchema)
export type Submission = TypeOf<typeof submission>

export const submissionPage = schema(
  t.Object({ submissions: t.Array(submissionSchema), next_cursor: nullable(t.String()) }, { title: 'FormSubmissionPage' }),
)
export type SubmissionPage = TypeOf<typeof submissionPage>

export const submissionQuery = schema(t.Object(cursorParameters()))
export type SubmissionQuery = TypeOf<typeof submissionQuery>
