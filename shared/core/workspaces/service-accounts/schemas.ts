import { nameSchema } from '#shared/platform/kernel/name.ts'
import { instant, schema, t, uuid } from '#shared/platform/kernel/schema.ts'

const serviceAccountSchema = t.Object(
  { id: uuid, name: t.String(), created_at: instant },
  { title: 'ServiceAccount', description: 'Identity of a program, to which access keys belong. It holds roles like a member.' },
)
export const serviceAccount = schema(serviceAccountSchema)
export const serviceAccountList = schema(t.Array(serviceAccountSchema))
export const serviceAccountInput = schema(
  t.Object({ name: nameSchema(120), role_ids: t.Optional(t.Array(t.String(), { maxItems: 50 })) }, { title: 'ServiceAccountInput' }),
)
