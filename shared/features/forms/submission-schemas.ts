import { nullable, schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

const submissionSchema = t.Object(
  {
    id: t.String({ format: 'uuid' }),
    values: t.Record(t.String(), t.Unknown()),
    record_id: nullable(t.String({ format: 'uuid', description: 'The record that was created from it.' })),
    error: nullable(t.String({ description: 'Why processing failed: the error code and message.' })),
    spam: nullable(t.String({ description: 'Why it counts as spam. It is processed only after a retry.' })),
    state: t.Enum(['kept', 'waiting', 'running', 'done', 'failed'], { description: 'Its processing; kept means none, as for spam.' }),
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
