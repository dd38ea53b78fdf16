import { mailResetJob } from '#shared/core/people/jobs.ts'
import { checkPassword, hashPassword, hashPasswordByToken, type PasswordQuota } from '#shared/core/people/passwords.ts'
import { wrongPasswordProblem } from '#shared/core/people/sessions.ts'
import {
  consumeResetToken,
  deleteOtherSessions,
  deleteResetTokens,
  findPerson,
  findPersonByEmail,
  findReset,
  insertResetToken,
  replacePasswordHash,
  setPasswordHash,
} from '#shared/core/people/store.ts'
import { hashSecret, makeSecret } from '#shared/core/people/tokens.ts'
import { type PlatformScope, within } from '#shared/core/scope/scope.ts'
import { firstRow, type Tx } from '#shared/platform/db/database.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { minuteMs } from '#shared/platform/kernel/time/units.ts'
import { accountMailKinds, type Mail } from '#shared/platform/mail/mail.ts'
import { queueMail } from '#shared/platform/mail/outbox.ts'

const resetMinutes = 60
/** Maximum reset tokens of one person that are neither used nor expired. */
const maxUnusedResets = 5

/**
 * Changes the caller's password and ends its other sessions. UNAUTHORIZED for a wrong current password, also when a concurrent request has
 * just changed or reset it: an old password cannot overwrite the new one.
 */
export async function changePassword(
  scope: PlatformScope,
  quota: PasswordQuota,
  { current, next }: { current: string; next: string },
): Promise<void> {
  const person = scope.principal && (await firstRow(scope.db, findPerson({ id: scope.principal.id })))
  const isRight = person && (await checkPassword(quota, { email: person.email, password: current }, person.password_hash))
  if (!isRight) throw wrongPasswordProblem('current is not your password')
  const hash = await hashPassword(next)
  await scope.db.transaction(async (tx) => {
    if (!(await firstRow(tx, replacePasswordHash({ id: person.id, knownHash: person.password_hash, hash }))))
      throw wrongPasswordProblem('current is not your password any more')
    await revokeAccess(tx, person.id, scope.principal?.sessionId ?? null)
  })
}

/** Sends a reset mail if a person has this address. The caller cannot learn whether one has. */
export async function requestPasswordReset({ db, jobQueue, cause }: PlatformScope, email: string): Promise<void> {
  await jobQueue.enqueue(db, mailResetJob, { workspaceId: null, cause }, { email })
}

/** Mails a reset token to the person with this address. Idempotent by `mailId`. */
export async function mailResetToken(scope: PlatformScope, email: string, mailId: string): Promise<void> {
  const person = await findPersonByEmail(scope.db, email)
  if (!person) return
  const now = scope.now()
  const expiresAt = new Date(now.getTime() + resetMinutes * minuteMs)
  const token = makeSecret()
  await scope.db.transaction(async (tx) => {
    const reset = { tokenHash: token.hash, userId: person.id, expiresAt, now, most: maxUnusedResets }
    if (await insertResetToken(tx, reset))
      await queueMail(within(scope, tx), { id: mailId, ...resetMail(scope.config, person, token.text) })
  })
}

/** Mail with a reset token. The token has its own line, which no mail program breaks. */
function resetMail({ publicUrl }: Config, person: { name: string; email: string }, token: string): Mail {
  return {
    workspaceId: null,
    kind: accountMailKinds.reset,
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

/** Throws NOT_FOUND unless the token can set a password. */
export async function requireResetToken({ db, now }: PlatformScope, token: string): Promise<void> {
  if (!(await firstRow(db, findReset({ tokenHash: hashSecret(token), now: now() }))))
    throw problem('NOT_FOUND', 'This link has been used, or is too old. Ask for another one.')
}

/** Sets a password by a mailed token and ends all sessions of the person. A token works once. */
export async function resetPassword(
  scope: PlatformScope,
  quota: PasswordQuota,
  { token, password }: { token: string; password: string },
): Promise<void> {
  const tokenHash = hashSecret(token)
  const reset = await firstRow(scope.db, findReset({ tokenHash, now: scope.now() }))
  if (!reset) throw invalidTokenProblem()
  const hash = await hashPasswordByToken(quota, { token, password })
  await scope.db.transaction(async (tx) => {
    // Locks the person before the token, in the same order as `changePassword`.
    await tx.query(setPasswordHash({ id: reset.user_id, hash }))
    if (!(await firstRow(tx, consumeResetToken({ tokenHash, now: scope.now() })))) throw invalidTokenProblem()
    await revokeAccess(tx, reset.user_id, null)
  })
}

const invalidTokenProblem = () => problem('VALIDATION_ERROR', 'token is not valid: it has been used, is too old, or was never sent')

/** Ends every session of a person except `keptSession`, and deletes all reset tokens. */
async function revokeAccess(tx: Tx, userId: string, keptSession: string | null): Promise<void> {
  await tx.query(deleteOtherSessions({ userId, sessionId: keptSession }))
  await tx.query(deleteResetTokens({ userId }))
}
