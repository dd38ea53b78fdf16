import { announce } from '#shared/events/announce.ts'
import type { Form, Thanks } from '#shared/forms/form.ts'
import { findSaid, keepSubmission } from '#shared/forms/submissions-store.ts'
import { problem } from '#shared/kernel/errors.ts'
import { newId } from '#shared/kernel/ids.ts'
import { isCleanText } from '#shared/kernel/json.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** What comes with a visitor's answers. */
export interface Attempt {
  /** Names this attempt, of all of a form's: sent again, it is kept once. */
  readonly key: string | undefined
  /** Whether the same name with other words is refused, as an Idempotency-Key is; a hosted page's id keeps the first ones (decisions, Forms). */
  readonly isExact: boolean
  /** Why it is taken for spam. */
  readonly spam: string | null
}

/** The longest name of an attempt (decisions, Idempotency). */
const maxKeyLength = 255

/** An attempt's name as a header carries it; undefined for none. Throws VALIDATION_ERROR when it is too long. */
export function attemptKey(text: string): string | undefined {
  if (text === '') return undefined
  if (text.length <= maxKeyLength && isCleanText(text)) return text
  throw problem('VALIDATION_ERROR', `Idempotency-Key must have 1 to ${maxKeyLength} characters`)
}

/**
 * Keeps what a visitor sent by a form, whatever becomes of it later, and says thanks: the same to spam, and to an attempt that is kept
 * already. What follows, the record and the function, begins once it is committed. Throws VALIDATION_ERROR where the attempt is exact and
 * kept with other words.
 */
export async function submitForm(scope: Scope, form: Form, values: object, { key, isExact, spam }: Attempt): Promise<Thanks> {
  const state = spam === null && leadsOn(form) ? 'waiting' : 'kept'
  const said = JSON.stringify(values)
  const [row] = await scope.db.query<{ dispatched: boolean; kept: boolean }>(
    keepSubmission(...[scope.workspace.id, form.id, newId(), key ?? null, said, spam, state, form.key], JSON.stringify(scope.cause)),
  )
  announce(scope, row)
  if (isExact && key !== undefined && !row?.kept) await requireSame(scope, form, key, said)
  return { ok: true, message: form.settings.success_message, redirect: form.settings.redirect }
}

async function requireSame({ db, workspace }: Scope, form: Form, key: string, said: string): Promise<void> {
  const [first] = await db.query<{ said: string }>(findSaid(workspace.id, form.id, key))
  if (first && first.said !== said) throw problem('VALIDATION_ERROR', 'Idempotency-Key was used on this form with another body')
}

/** Whether anything follows a submission. */
export const leadsOn = ({ target, function_id }: Pick<Form, 'target' | 'function_id'>): boolean => target !== null || function_id !== null
