import { nullable, schema, type TypeOf, t } from '#shared/kernel/schema.ts'

const submissionSchema = t.Object(
  {
    id: t.String({ format: 'uuid' }),
    values: t.Record(t.String(), t.Unknown()),
    record_id: nullable(t.String({ format: 'uuid', description: 'The record that it became.' })),
    error: nullable(t.String({ description: 'Why what follows failed: the code and the words.' })),
    spam: nullable(t.String({ description: 'Why it is taken for spam: nothing follows until it is retried.' })),
    state: t.Enum(['kept', 'waiting', 'running', 'done', 'failed'], { description: 'How far what follows has come.' }),
    created_at: t.String({ format: 'date-time' }),
  },
  { title: 'FormSubmission' },
)
export const submission = schema(submissionSchema)
export type Submission = TypeOf<typeof submission>

export const submissionPage = schema(
  t.Object({ submissions: t.Array(submissionSchema), next_cursor: nullable(t.String()) }, { title: 'FormSubmissionPage' }),
)

export const submissionQuery = schema(
  t.Object({
    limit: t.Integer({ minimum: 1, maximum: 200, default: 50 }),
    cursor: t.Optional(t.String({ description: 'next_cursor of the page before.' })),
  }),
)
export type SubmissionQuery = TypeOf<typeof submissionQuery>
