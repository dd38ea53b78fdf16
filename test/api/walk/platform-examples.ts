import type { Call, WalkedRoutes } from '#test/api/walk/example.ts'
import { createAccount, password, resetToken } from '#test/support/account.ts'
import type { Place } from '#test/support/things.ts'

const mailed = 'example-token-of-the-mail'
const passwordToken = async ({ world }: Place) => ({ [mailed]: await resetToken(world, (await createAccount(world)).id) })
const invitationToken = async ({ things }: Place) => ({ [mailed]: await things.token() })
const asNewPerson = async (call: Call, { world }: Place) => ({ ...call, client: (await createAccount(world)).client })

/** Routes outside workspaces. */
export const platformExamples: WalkedRoutes = {
  'POST /v1/auth/sign-in': {
    needs: 'public',
    things: async ({ world }) => ({ 'ada@example.com': (await createAccount(world)).email, 'example password': password }),
  },
  'POST /v1/auth/sign-out': { needs: 'person', change: asNewPerson },
  'GET /v1/auth/me': { needs: 'any' },
  'POST /v1/auth/password': { needs: 'person', things: () => ({ 'example password': password }), change: asNewPerson },
  'POST /v1/auth/forgot': { needs: 'public' },
  'POST /v1/auth/reset': { needs: 'public', things: passwordToken },
  'POST /v1/auth/accept-invite': { needs: 'public', things: invitationToken },
  'GET /': { needs: 'public' },
  'GET /reset': { needs: 'public', things: passwordToken },
  'POST /reset': { needs: 'public', things: passwordToken },
  'GET /accept-invite': { needs: 'public', things: invitationToken },
  'POST /accept-invite': { needs: 'public', things: invitationToken },
  'GET /v1/orgs': { needs: 'person' },
  'POST /v1/orgs': { needs: 'person' },
}
