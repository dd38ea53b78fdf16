import { schema, t, uuid } from '#shared/platform/kernel/schema.ts'

/** Address and password of a person. */
export const credentialFields = { email: t.String({ maxLength: 320 }), password: t.String({ maxLength: 1_000 }) }
export const credentials = schema(t.Object(credentialFields, { title: 'Credentials' }))

/** A new session. */
export const sessionShape = t.Object(
  {
    token: t.String({ description: 'To be sent as Authorization: Bearer. Only this response shows it.' }),
    expires_at: t.String({ format: 'date-time', description: 'Using the session extends it.' }),
    user: t.Object({ id: uuid, email: t.String(), name: t.String() }),
  },
  { title: 'Session' },
)
export const signInAnswer = schema(sessionShape)

/** A new password: 8 to 200 characters. */
export const newPassword = t.String({ minLength: 8, maxLength: 200, description: 'a password of 8 to 200 characters' })

export const passwordChange = schema(t.Object({ current: t.String({ maxLength: 1_000 }), next: newPassword }, { title: 'PasswordChange' }))
export const resetRequest = schema(t.Object({ email: t.String({ maxLength: 320 }) }, { title: 'ResetRequest' }))
export const passwordReset = schema(t.Object({ token: t.String({ maxLength: 200 }), password: newPassword }, { title: 'PasswordReset' }))
