import { cursorParameters } from '#shared/platform/db/lists.ts'
import { instant, nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

/** What operators do that changes something. The names are stored: a released one stays. */
export type OperatorAction =
  | 'jobs.cancel'
  | 'jobs.discard'
  | 'jobs.pause'
  | 'jobs.resume'
  | 'jobs.retry'
  | 'mail.flush'
  | 'operators.add'
  | 'operators.remove'
  | 'workspaces.delete'
  | 'workspaces.plan'
  | 'workspaces.resume'
  | 'workspaces.suspend'

export const actionsQuery = schema(t.Object(cursorParameters()))
export type ActionsQuery = TypeOf<typeof actionsQuery>

const loggedAction = t.Object(
  {
    id: uuid,
    at: instant,
    operator_id: nullable(t.String({ format: 'uuid', description: 'Null for the command line.' })),
    operator: t.String({ description: "The operator's address at the time, or the command line with the name of its user." }),
    action: t.String({ description: 'Such as `workspaces.suspend`.' }),
    subject: t.Object({}, { additionalProperties: true, description: 'What the action was about.' }),
    count: t.Integer({ description: 'How many things it changed.' }),
  },
  { title: 'OperatorAction' },
)

export const actionPage = schema(
  t.Object({ entries: t.Array(loggedAction), next_cursor: nullable(t.String({ description: 'Null on the last page.' })) }),
)
export type ActionPage = TypeOf<typeof actionPage>

/** A pause or its end. */
export const pauseChange = schema(
  t.Object(
    {
      target: t.Enum({ kind: 'kind', pool: 'pool' }),
      name: t.String(),
      paused: t.Boolean(),
      kinds: t.Array(t.String(), { description: 'The kinds of jobs that it is about; of a pool those that can be paused.' }),
    },
    { title: 'PauseChange' },
  ),
)
export type PauseChange = TypeOf<typeof pauseChange>
