import { mailResetJob } from '#shared/core/people/jobs.ts'
import { hashPassword, newPassword, verifyPassword } from '#shared/core/people/passwords.ts'
import { resetMail } from '#shared/core/people/reset-mail.ts'
import { wrongPasswordProblem } from '#shared/core/people/sessions.ts'
import {
  consumeResetToken,
  deleteOtherSessions,
  deleteResetTokens,
  findPerson,
  findPersonByEmail,
  findResetPersonId,
  insertResetToken,
  replacePasswordHash,
  setPasswordHash,
} from '#shared/core/people/store.ts'
import { hashSecret, makeSecret } from '#shared/core/people/tokens.ts'
import { type PlatformScope, within } from '#shared/core/scope/scope.ts'
import type { Tx } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { queueMail } from '#shared/platform/mail/outbox.ts'

const resetMinutes = 60
/** Reset mails that one address can be sent while none of them has been used. */
const mostResets = 5

export const passwordChange = schema(t.Object({ current: t.String({ maxLength: 1_000 }), next: newPassword }, { title: 'PasswordChange' }))
export const resetRequest = schema(t.Object({ email: t.String({ maxLength: 320 }) }, { title: 'ResetRequest' }))
export const passwordReset = schema(t.Object({ token: t.String({ maxLength: 200 }), password: newPassword }, { title: 'PasswordReset' }))

/**
 * Changes the caller's password and ends its other sessions; a wrong current one is UNAUTHORIZED, also one that is being changed or reset
 * at this moment: whoever knows an old password does not overwrite the new one.
 */
export async function changePassword(scope: PlatformScope, { current, next }: { current: string; next: string }): Promise<void> {
  const person = scope.principal && (await findPerson(scope.db, scope.principal.id))
  if (!person || !(await verifyPassword(current, person.password_hash))) throw wrongPasswordProblem('current is not your password')
  const hash = await hashPassword(next)
  await scope.db.transaction(async (tx) => {
    if (!(await replacePasswordHash(tx, person, hash))) throw wrongPasswordProblem('current is not your password any more')
    await endAccess(tx, person.id, scope.principal?.sessionId ?? null)
  })
}

/** Has a reset mail sent if there is a person of this address; nothing tells the caller whether there is. */
export async function requestPasswordReset({ db, jobQueue, cause }: PlatformScope, email: string): Promise<void> {
  await jobQueue.enqueue(db, mailResetJob, { workspaceId: null, cause }, { email })
}

/** Mails a reset token to the person of this address; doing it again under the same `mailId` changes nothing. */
export async function mailResetToken(scope: PlatformScope, email: string, mailId: string): Promise<void> {
  const person = await findPersonByEmail(scope.db, email)
  if (!person) return
  const now = scope.now()
  const expiresAt = new Date(now.getTime() + resetMinutes * 60_000)
  const token = makeSecret()
  await scope.db.transaction(async (tx) => {
    const reset = { tokenHash: token.hash, userId: person.id, expiresAt, now, most: mostResets }
    if (await insertResetToken(tx, reset))
      await queueMail(within(scope, tx), { id: mailId, ...resetMail(scope.config, person, token.text) })
  })
}

/** Throws NOT_FOUND unless a password can be set by this token. */
export async function requireResetToken({ db, now }: PlatformScope, token: string): Promise<void> {
  const userId = await findResetPersonId(db, hashSecret(token), now())
  if (userId === undefined) throw problem('NOT_FOUND', 'This link has been used, or is too old. Ask for another one.')
}

/** Sets a password by a token that was mailed: it works once, and all sessions of the person end. */
export async function resetPassword(scope: PlatformScope, { token, password }: { token: string; password: string }): Promise<void> {
  const tokenHash = hashSecret(token)
  const userId = await findResetPersonId(scope.db, tokenHash, scope.now())
  if (userId === undefined) throw refusedToken()
  const hash = await hashPassword(password)
  await scope.db.transaction(async (tx) => {
    // The person before the token, in the order in which a change of the password takes them.
    await setPasswordHash(tx, userId, hash)
    if (!(await consumeResetToken(tx, tokenHash, scope.now()))) throw refusedToken()
    await endAccess(tx, userId, null)
  })
}

const refusedToken = () => problem('VALIDATION_ERROR', 'token is not valid: it has been used, is too old, or was never sent')

/** Ends every session of a person but the one named, and makes every reset token worthless. */
async function endAccess(tx: Tx, userId: string, keptSession: string | null): Promise<void> {
  await deleteOtherSessions(tx, userId, keptSession)
  await deleteResetTokens(tx, userId)
}
