import type { Examples } from '#test/api/walk/example.ts'
import { linkedPage } from '#test/api/walk/second-page.ts'
import { createMember } from '#test/support/factories.ts'

const org = '/v1/orgs/:orgId'
const roles = `${org}/iam/groups`
const accounts = `${org}/service-accounts`

/** Settings, people, keys, roles, jobs and menu groups of a workspace. */
export const workspaceExamples: Examples = {
  [`GET ${org}`]: { needs: 'member', call: () => ({}) },
  [`PATCH ${org}`]: { needs: 'org:update', call: () => ({ body: { timezone: 'Europe/Berlin' } }) },
  [`GET ${org}/members`]: { needs: 'member', call: () => ({}) },
  [`POST ${org}/members`]: { needs: 'iam:manage_members', call: ({ things }) => ({ body: { email: `${things.name()}@example.com` } }) },
  [`GET ${org}/members/:userId`]: { needs: 'member', call: ({ org: { ownerId } }) => ({ params: { userId: ownerId } }) },
  [`DELETE ${org}/members/:userId`]: {
    needs: 'iam:manage_members',
    call: async ({ world, org }) => ({ params: { userId: (await createMember(world, org)).id } }),
  },
  [`GET ${org}/invitations`]: { needs: 'iam:manage_members', call: () => ({}) },
  [`DELETE ${org}/invitations/:invitationId`]: {
    needs: 'iam:manage_members',
    call: async ({ things }) => ({ params: { invitationId: await things.invitation() } }),
  },
  [`GET ${accounts}`]: { needs: 'iam:manage_members', call: () => ({}) },
  [`POST ${accounts}`]: { needs: 'iam:manage_members', call: () => ({ body: { name: 'Robot' } }) },
  [`GET ${accounts}/:id`]: { needs: 'iam:manage_members', call: async ({ things }) => ({ params: { id: await things.service() } }) },
  [`DELETE ${accounts}/:id`]: { needs: 'iam:manage_members', call: async ({ things }) => ({ params: { id: await things.service() } }) },
  [`GET ${accounts}/:id/keys`]: { needs: 'iam:manage_members', call: async ({ things }) => ({ params: { id: await things.service() } }) },
  [`POST ${accounts}/:id/keys`]: {
    needs: 'iam:manage_members',
    call: async ({ things }) => ({ params: { id: await things.service() }, body: { name: 'ci' } }),
  },
  ...Object.fromEntries(
    ['GET', 'DELETE'].map((method) => [
      `${method} ${accounts}/:id/keys/:keyId`,
      {
        needs: 'iam:manage_members',
        call: async ({ things }) => {
          const id = await things.service()
          return { params: { id, keyId: await things.key(id) } }
        },
      } satisfies Examples[string],
    ]),
  ),
  [`GET ${org}/iam/me`]: { needs: 'member', call: () => ({}) },
  [`GET ${roles}`]: { needs: 'iam:manage_groups', secondPage: linkedPage('/iam/groups', (things) => things.role()), call: () => ({}) },
  [`POST ${roles}`]: { needs: 'iam:manage_groups', call: () => ({ body: { name: 'New', policy: [] } }) },
  [`GET ${roles}/:groupId`]: { needs: 'iam:manage_groups', call: async ({ things }) => ({ params: { groupId: await things.role() } }) },
  [`PUT ${roles}/:groupId`]: {
    needs: 'iam:manage_groups',
    call: async ({ things }) => ({ params: { groupId: await things.role() }, body: { name: 'Changed' } }),
  },
  [`DELETE ${roles}/:groupId`]: { needs: 'iam:manage_groups', call: async ({ things }) => ({ params: { groupId: await things.role() } }) },
  [`GET ${roles}/:groupId/members`]: {
    needs: 'iam:manage_groups',
    call: async ({ things }) => ({ params: { groupId: await things.role() } }),
  },
  [`POST ${roles}/:groupId/members`]: {
    needs: 'iam:manage_members',
    call: async ({ things }) => ({ params: { groupId: await things.role() }, body: { user_id: await things.service() } }),
  },
  [`DELETE ${roles}/:groupId/members/:userId`]: {
    needs: 'iam:manage_members',
    call: async ({ things }) => {
      const [groupId, userId] = [await things.role(), await things.service()]
      await things.hold(groupId, userId)
      return { params: { groupId, userId } }
    },
  },
  [`POST ${org}/iam/simulate`]: {
    needs: 'iam:simulate',
    call: ({ org: { ownerId }, keys }) => ({ body: { user_id: ownerId, action: 'records:read', resource: keys.type } }),
  },
  [`GET ${org}/modules`]: { needs: 'member', call: () => ({}) },
  [`POST ${org}/modules`]: { needs: 'org:update', call: ({ things }) => ({ body: { slug: things.name(), name: 'New' } }) },
  [`DELETE ${org}/modules/:slug`]: { needs: 'org:update', call: async ({ things }) => ({ params: { slug: await things.module() } }) },
  [`GET ${org}/jobs/:jobId`]: { needs: 'member', call: async ({ things }, { id }) => ({ params: { jobId: await things.job(id) } }) },
  [`GET ${org}/jobs/:jobId/result`]: { needs: 'member', call: async ({ things }, { id }) => ({ params: { jobId: await things.job(id) } }) },
}
