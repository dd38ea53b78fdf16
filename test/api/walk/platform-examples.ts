import { type Examples, form } from '#test/api/walk/example.ts'
import { createAccount, password, resetToken } from '#test/support/account.ts'

/** Routes outside workspaces. */
export const platformExamples: Examples = {
  'POST /v1/auth/sign-in': {
    needs: 'public',
    call: async ({ world }) => ({ body: { email: (await createAccount(world)).email, password } }),
  },
  'POST /v1/auth/sign-out': { needs: 'person', call: async ({ world }) => ({ client: (await createAccount(world)).client }) },
  'GET /v1/auth/me': { needs: 'any', call: () => ({}) },
  'POST /v1/auth/password': {
    needs: 'person',
    call: async ({ world }) => ({ client: (await createAccount(world)).client, body: { current: password, next: 'another password' } }),
  },
  'POST /v1/auth/forgot': { needs: 'public', call: () => ({ body: { email: 'nobody@example.com' } }) },
  'POST /v1/auth/reset': {
    needs: 'public',
    call: async ({ world }) => {
      const { id } = await createAccount(world)
      return { body: { token: await resetToken(world, id), password: 'another password' } }
    },
  },
  'POST /v1/auth/accept-invite': {
    needs: 'public',
    call: async ({ things }) => ({ body: { token: await things.token(), name: 'Ivy Invited', password } }),
  },
  'GET /': { needs: 'public', call: () => ({}) },
  'GET /reset': {
    needs: 'public',
    call: async ({ world }) => ({ query: { token: await resetToken(world, (await createAccount(world)).id) } }),
  },
  'POST /reset': {
    needs: 'public',
    call: async ({ world }) => {
      const { id } = await createAccount(world)
      return form({ token: await resetToken(world, id), password: 'another password' })
    },
  },
  'GET /accept-invite': { needs: 'public', call: async ({ things }) => ({ query: { token: await things.token() } }) },
  'POST /accept-invite': {
    needs: 'public',
    call: async ({ things }) => form({ token: await things.token(), name: 'Ivy Invited', password }),
  },
  'GET /v1/orgs': { needs: 'person', call: () => ({}) },
  'POST /v1/orgs': { needs: 'person', call: () => ({ body: { name: 'Another' } }) },
}
