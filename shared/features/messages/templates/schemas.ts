import { nameSchema } from '#shared/platform/kernel/name.ts'
import { instant, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

/** Maximum characters of the subject and each body of a template, and of a body with its variables put in. */
export const messageLimits = { subject: 500, body: 200_000, filledBody: 800_000 } as const

const subject = t.String({ maxLength: messageLimits.subject, description: 'Text with variables in double braces: {{name}}.' })
const bodyText = t.String({ maxLength: messageLimits.body, description: 'Plain text, with {{variables}}.' })
const bodyHtml = t.String({
  maxLength: messageLimits.body,
  description: 'HTML, with {{variables}} in its text and in quoted attributes; their values are escaped.',
})
const parts = { name: nameSchema(120), subject, body_text: bodyText, body_html: bodyHtml }

/** Request that creates a template. */
export const templateInput = schema(
  t.Object(
    { name: parts.name, subject, body_text: t.Optional(bodyText), body_html: t.Optional(bodyHtml) },
    { title: 'MessageTemplateInput' },
  ),
)
export type TemplateInput = TypeOf<typeof templateInput>

/** Request that changes a template. Omitted properties stay unchanged. */
export const templateChange = schema(t.Object(t.Partial(t.Object(parts)).properties, { title: 'MessageTemplateChange' }))
export type TemplateChange = TypeOf<typeof templateChange>

const heading = { id: uuid, name: t.String(), subject: t.String() }
const times = { created_at: instant, updated_at: instant }

/** A template in a response. */
export const templateView = schema(
  t.Object(
    {
      ...heading,
      body_text: t.String(),
      body_html: t.String(),
      ...times,
      warnings: t.Optional(
        t.Array(t.String(), { description: 'The variables that begin with a root of flows, such as trigger; absent where none does.' }),
      ),
    },
    { title: 'MessageTemplate', description: 'Subject and body of messages, with variables.' },
  ),
)
export type TemplateView = TypeOf<typeof templateView>

/** A template in a list, without its bodies. */
export const templateSummary = schema(t.Object({ ...heading, ...times }, { title: 'MessageTemplateSummary' }))
export type TemplateSummary = TypeOf<typeof templateSummary>
