import { optionalNameSchema } from '#shared/platform/kernel/name.ts'
import { instant, nullable, schema, t, uuid } from '#shared/platform/kernel/schema.ts'

const shape = {
  id: uuid,
  name: t.String(),
  prefix: t.String({ description: '`kt_` and the first characters of the secret, to recognise the key: `kt_…Iz8I`.' }),
  expires_at: nullable(instant),
  created_at: instant,
}
const accessKeySchema = t.Object(shape, { title: 'AccessKey' })
export const accessKey = schema(accessKeySchema)
export const accessKeyList = schema(t.Array(accessKeySchema))
export const newAccessKey = schema(
  t.Object({ ...shape, key: t.String({ description: 'The access key itself, shown this once.' }) }, { title: 'NewAccessKey' }),
)
export const accessKeyInput = schema(
  t.Object(
    {
      name: t.Optional(optionalNameSchema(120)),
      expires_at: t.Optional(nullable(t.String({ description: 'RFC 3339, in the future; null or absent for a key without end.' }))),
    },
    { title: 'AccessKeyInput' },
  ),
)
export type AccessKeyInput = ReturnType<(typeof accessKeyInput)['parse']>
