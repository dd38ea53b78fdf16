import type { Mail } from '#shared/mail/mail.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** The mail that carries an invitation's token. The token stands on a line of its own, which no mail program breaks. */
export function invitationMail({ config, workspace, actor }: Scope, to: string, token: string, days: number): Mail {
  return {
    workspaceId: workspace.id,
    kind: 'invitation',
    to,
    subject: `Join ${workspace.name}`,
    text: `Hello,

${actor.name} invites you to the workspace "${workspace.name}" at Kontor.

To join, open this address:
${config.publicUrl}/accept-invite?token=${token}

Programs send the token with your name and a password, as {token,
name, password}, to POST ${config.publicUrl}/v1/auth/accept-invite.
If this address has an account already, send that account's password.
The token is:
${token}

It works once, within ${days} days. If you do not know what this is about, you
need not do anything.
`,
  }
}
