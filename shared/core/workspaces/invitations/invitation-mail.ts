import type { Scope } from '#shared/core/scope/scope.ts'
import type { Mail } from '#shared/platform/mail/mail.ts'

/** Mail with an invitation token. The token has its own line, which no mail program breaks. */
export function invitationMail({ config, workspace, actor }: Scope, to: string, token: string, days: number): Mail {
  return {
    workspaceId: workspace.id,
    kind: 'invitation',
    to,
    subject: `Join ${workspace.name}`,
    text: `Hello,

${actor.name} invites you to the workspace "${workspace.name}" at Kontor.

To join ${workspace.name}, open this address:
${config.publicUrl}/accept-invite?token=${token}

If you have an account with this mail address already, sign in there with
its password. The token of the invitation is:
${token}

It works once, within ${days} days. If you do not know what this is about, you
need not do anything.
`,
  }
}
