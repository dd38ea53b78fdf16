import { newPassword, sessionShape } from '#shared/core/people/schemas.ts'
import { roleNames } from '#shared/core/roles/schemas.ts'
import { nameSchema } from '#shared/platform/kernel/name.ts'
import { instant, schema, t, uuid } from '#shared/platform/kernel/schema.ts'

const invitationSchema = t.Object(
  {
    id: uuid,
    email: t.String(),
    roles: roleNames,
    expires_at: instant,
    created_at: instant,
  },
  { title: 'Invitation', description: 'A pending membership: the holder of the mailed token may join with these roles.' },
)
export const invitation = schema(invitationSchema)
export const invitationList = schema(t.Array(invitationSchema))
export const invitationInput = schema(
  t.Object(
    { email: t.String({ format: 'email' }), role_ids: t.Optional(t.Array(t.String(), { maxItems: 50 })) },
    { title: 'InvitationInput' },
  ),
)

export const invitationAnswer = schema(
  t.Object({ token: t.String({ maxLength: 200 }), name: nameSchema(120), password: newPassword }, { title: 'InvitationAnswer' }),
)
export type InvitationAnswer = ReturnType<(typeof invitationAnswer)['parse']>

/** Session of the new member, and the workspace it joined. */
export const acceptedInvitation = schema(t.Object({ ...sessionShape.properties, org_id: uuid }, { title: 'AcceptedInvitation' }))
