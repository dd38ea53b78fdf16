import { roleNames } from '#shared/core/roles/schemas.ts'
import { schema, t, uuid } from '#shared/platform/kernel/schema.ts'

const memberSchema = t.Object(
  {
    id: uuid,
    type: t.Literal('user'),
    name: t.String(),
    email: t.String(),
    owner: t.Boolean(),
    roles: roleNames,
    created_at: t.String({ format: 'date-time', description: 'When the person joined.' }),
  },
  { title: 'Member', description: 'A person of the workspace.' },
)
export const member = schema(memberSchema)
export const memberList = schema(t.Array(memberSchema))
