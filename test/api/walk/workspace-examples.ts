import { ids } from '#api/http/example-ids.ts'
import { dayIn, type WalkedRoutes } from '#test/api/walk/example.ts'
import { linkedPage } from '#test/api/walk/second-page.ts'
import { createMember } from '#test/support/factories.ts'
import type { Place } from '#test/support/things.ts'

const org = '/v1/orgs/:orgId'
const roles = `${org}/iam/groups`
const accounts = `${org}/service-accounts`

const aMember = async ({ world, org }: Place) => ({ [ids.member]: (await createMember(world, org)).id })
const aRole = async ({ things }: Place) => ({ [ids.salesRole]: await things.role() })
const anAccount = async ({ things }: Place) => ({ [ids.robot]: await things.service() })
const aKey = async ({ things }: Place) => {
  const id = await things.service()
  return { [ids.robot]: id, [ids.accessKey]: await things.key(id) }
}

/** Settings, people, keys, roles, jobs and menu groups of a workspace. */
export const workspaceExamples: WalkedRoutes = {
  [`GET ${org}`]: { needs: 'member' },
  [`PATCH ${org}`]: { needs: 'org:update' },
  [`GET ${org}/members`]: { needs: 'member' },
  [`POST ${org}/members`]: {
    needs: 'iam:manage_members',
    things: async ({ things }) => ({ 'carla@example.com': `${things.name()}@example.com`, [ids.salesRole]: await things.role() }),
  },
  [`GET ${org}/members/:userId`]: { needs: 'member', things: aMember },
  [`DELETE ${org}/members/:userId`]: { needs: 'iam:manage_members', things: aMember },
  [`GET ${org}/invitations`]: { needs: 'iam:manage_members' },
  [`DELETE ${org}/invitations/:invitationId`]: {
    needs: 'iam:manage_members',
    things: async ({ things }) => ({ [ids.invitation]: await things.invitation() }),
  },
  [`GET ${accounts}`]: { needs: 'iam:manage_members' },
  [`POST ${accounts}`]: { needs: 'iam:manage_members', things: aRole },
  [`GET ${accounts}/:id`]: { needs: 'iam:manage_members', things: anAccount },
  [`DELETE ${accounts}/:id`]: { needs: 'iam:manage_members', things: anAccount },
  [`GET ${accounts}/:id/keys`]: { needs: 'iam:manage_members', things: anAccount },
  [`POST ${accounts}/:id/keys`]: {
    needs: 'iam:manage_members',
    things: async (place) => ({ ...(await anAccount(place)), '2027-11-05T00:00:00Z': `${dayIn(30)}T00:00:00Z` }),
  },
  [`GET ${accounts}/:id/keys/:keyId`]: { needs: 'iam:manage_members', things: aKey },
  [`DELETE ${accounts}/:id/keys/:keyId`]: { needs: 'iam:manage_members', things: aKey },
  [`GET ${org}/iam/me`]: { needs: 'member' },
  [`GET ${roles}`]: { needs: 'iam:manage_groups', secondPage: linkedPage('/iam/groups', (things) => things.role()) },
  [`POST ${roles}`]: {
    needs: 'iam:manage_groups',
    // Nobody may give rights that they lack, and the callers of the walk have no more than the route needs.
    change: (call) => ({ ...call, body: { ...(call.body as object), policy: [] } }),
  },
  [`GET ${roles}/:groupId`]: { needs: 'iam:manage_groups', things: aRole },
  [`PUT ${roles}/:groupId`]: { needs: 'iam:manage_groups', things: aRole },
  [`DELETE ${roles}/:groupId`]: { needs: 'iam:manage_groups', things: aRole },
  [`GET ${roles}/:groupId/members`]: { needs: 'iam:manage_groups', things: aRole },
  [`POST ${roles}/:groupId/members`]: {
    needs: 'iam:manage_members',
    things: async ({ things }) => ({ [ids.salesRole]: await things.role(), [ids.member]: await things.service() }),
  },
  [`DELETE ${roles}/:groupId/members/:userId`]: {
    needs: 'iam:manage_members',
    things: async ({ things }) => {
      const [groupId, userId] = [await things.role(), await things.service()]
      await things.hold(groupId, userId)
      return { [ids.salesRole]: groupId, [ids.member]: userId }
    },
  },
  [`POST ${org}/iam/simulate`]: {
    needs: 'iam:simulate',
    things: ({ org: { ownerId }, keys }) => ({ [ids.member]: ownerId, invoices: keys.type }),
  },
  [`GET ${org}/modules`]: { needs: 'member' },
  [`POST ${org}/modules`]: { needs: 'org:update', things: ({ things }) => ({ sales: things.name() }) },
  [`DELETE ${org}/modules/:slug`]: { needs: 'org:update', things: async ({ things }) => ({ sales: await things.module() }) },
  [`GET ${org}/jobs/:jobId`]: { needs: 'member', things: async ({ things }, { id }) => ({ [ids.job]: await things.job(id) }) },
  [`GET ${org}/jobs/:jobId/result`]: { needs: 'member', things: async ({ things }, { id }) => ({ [ids.job]: await things.job(id) }) },
}
