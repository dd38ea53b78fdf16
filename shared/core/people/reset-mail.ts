import type { Config } from '#shared/platform/kernel/config.ts'
import type { Mail } from '#shared/platform/mail/mail.ts'

/** Mail with a reset token. The token has its own line, which no mail program breaks. */
export function resetMail({ publicUrl }: Config, person: { name: string; email: string }, token: string): Mail {
  return {
    workspaceId: null,
    kind: 'reset',
    to: person.email,
    subject: 'Set a new password',
    text: `Hello ${person.name},

somebody, most likely you, asked for a new password at Kontor.

To set one, open this address:
${publicUrl}/reset?token=${token}

Programs send the token with the new password, as {token, password},
to POST ${publicUrl}/v1/auth/reset. The token is:
${token}

It works once, within an hour. If it was not you, you need not do anything.
`,
  }
}
