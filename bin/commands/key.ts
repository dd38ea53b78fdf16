import { readToken } from '#shared/core/people/tokens.ts'
import { createAccessKey } from '#shared/core/workspaces/service-accounts/access-keys.ts'
import { deleteKeyByHash, deleteKeyById } from '#shared/core/workspaces/service-accounts/access-keys-store.ts'
import { createAdminAccount } from '#shared/core/workspaces/service-accounts/admin-account.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { command } from '../command.ts'
import { workspaceScope } from '../workspaces.ts'

export const keyCommands = [
  command({
    name: 'key create',
    summary: 'Create an access key',
    options: schema(
      t.Object({
        org: t.String({ description: 'id of the workspace' }),
        account: t.Optional(t.String({ description: 'id of a service account; default: a new one that may do everything' })),
        name: t.Optional(t.String({ maxLength: 120 })),
        expires_at: t.Optional(t.String({ description: 'time at which the key expires, in RFC 3339; default: never' })),
      }),
    ),
    run: async ({ org, account, name = 'Operator', expires_at }, platform) => {
      const scope = await workspaceScope(platform, org)
      const accountId = account ?? (await createAdminAccount(scope, name)).id
      const created = await createAccessKey(scope, accountId, { name, expires_at: expires_at ?? null })
      return {
        data: { ...created, org_id: scope.workspace.id, service_account_id: accountId },
        lines: [`Created key ${created.id}:`, created.key],
      }
    },
  }),
  command({
    name: 'key revoke',
    summary: 'Revoke an access key, at once and everywhere',
    options: schema(t.Object({ key: t.String({ description: 'id of the key, or the key itself' }) })),
    run: async ({ key }, { db }) => {
      const token = readToken(key)
      const deleted = token ? deleteKeyByHash({ secretHash: token.hash }) : isUuid(key) ? deleteKeyById({ id: key }) : undefined
      const id = deleted && (await firstRow(db, deleted))?.id
      if (id === undefined) throw problem('NOT_FOUND', 'There is no such key')
      return { data: { id, revoked: true }, lines: [`Revoked key ${id}.`] }
    },
  }),
]
