import { tryWaitingMails } from '#shared/core/operators/try-waiting-mails.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { mailStatuses } from '#shared/platform/mail/mail.ts'
import { countWaitingMails, listMails } from '#shared/platform/mail/operator-store.ts'
import { command } from '../command.ts'
import type { CommandScope } from '../command-scope.ts'
import { formatTable } from '../table.ts'
import { workspaceScope } from '../workspaces.ts'

const workspace = t.Optional(t.String({ description: 'id or name of the workspace; default: all, and the mails of the platform' }))

const idOf = async (platform: CommandScope, text: string | undefined): Promise<string | undefined> =>
  text === undefined ? undefined : (await workspaceScope(platform, text)).workspace.id

/** The most mails that are listed. */
const maxListed = 200

/** The most mails that are sent without --yes. */
const maxUnasked = 10

export const mailCommands = [
  command({
    name: 'mail list',
    summary: `Show mails, newest first, with the last answer of their server; at most ${maxListed}, and never what they say`,
    options: schema(
      t.Object({
        status: t.Optional(t.Enum([...mailStatuses], { description: 'queued: waits; uncertain: the server may have it' })),
        workspace,
        to: t.Optional(t.String({ description: 'address of the recipient' })),
      }),
    ),
    run: async ({ status, workspace, to }, platform) => {
      const workspaceId = await idOf(platform, workspace)
      const mails = await platform.db.query(listMails({ statuses: status && [status], workspaceId, recipient: to, limit: maxListed }))
      const rows = mails.map(({ created_at, status, kind, workspace, workspace_id, recipient, attempts, last_error }) => [
        created_at,
        status,
        kind,
        workspace ?? workspace_id ?? '(the platform)',
        recipient,
        `${attempts} tries`,
        last_error,
      ])
      return { data: { mails }, lines: rows.length > 0 ? formatTable(rows) : ['There are no such mails.'] }
    },
  }),
  command({
    name: 'mail flush',
    summary: 'Try mails at once that wait for another try',
    options: schema(
      t.Object({ workspace, yes: t.Optional(t.Boolean({ description: `needed where more than ${maxUnasked} mails wait` })) }),
    ),
    run: async ({ workspace, yes = false }, platform) => {
      const workspaceId = await idOf(platform, workspace)
      const waiting = (await firstRow(platform.db, countWaitingMails({ workspaceId })))?.waiting ?? 0
      if (waiting > maxUnasked && !yes) throw problem('VALIDATION_ERROR', `${waiting} mails wait; --yes tries all of them at once`)
      const tried = await tryWaitingMails(platform, workspaceId)
      return { data: { waiting, tried }, lines: [`${tried} of ${waiting} waiting mails had to wait and are tried now.`] }
    },
  }),
]
