import { isIdempotencyKey } from '#api/http/idempotency.ts'
import type { Field } from '#api/pages/fields/field.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { createSigner } from '#shared/platform/kernel/crypto/signatures.ts'
import type { Problem } from '#shared/platform/kernel/errors.ts'
import { t } from '#shared/platform/kernel/schema.ts'

/** Hidden field with a submission's id, so the same form sent twice counts once. No other field has this name. */
export const attemptField = 'id'

/** Reads a form's submission id; undefined when it is missing, longer than 255 characters or unclean text, so the request counts as new. */
export function readAttempt(sent: URLSearchParams): string | undefined {
  const id = sent.get(attemptField) ?? ''
  return isIdempotencyKey(id) ? id : undefined
}

/** The hidden input with the form token, in the schema of a form. */
export const formTokenInput = { form_token: t.String({ description: 'The form token in the page. It may be sent again.' }) }

/**
 * Creates the form tokens of one kind of page. A token proves that a form was sent from the page of a subject: other websites, and programs
 * that follow links, do not have it. It does not expire.
 */
export function createFormTokens(pages: string) {
  const signer = ({ config }: Pick<PlatformScope, 'config'>) => createSigner(config, pages)
  return {
    make: (scope: Pick<PlatformScope, 'config'>, subject: string): string => signer(scope).sign(subject),
    isIn: (sent: URLSearchParams, scope: Pick<PlatformScope, 'config'>, subject: string): boolean =>
      signer(scope).verify(subject, sent.get('form_token') ?? ''),
  }
}

/** The field that a failure's message begins with, as in `password must have at least 8 characters`; undefined for none. */
export const failedField = (fields: readonly Field[], failure: Problem | undefined): Field | undefined =>
  fields.find(({ name }) => failure?.message.startsWith(`${name} `))

/**
 * Assigns a failure to its field, and replaces the name with the label: `password must have at least 8 characters` becomes `New password must
 * have …` at the field password. A failure of no field goes to the first field.
 */
export function fieldErrors(fields: readonly Field[], failure: Problem | undefined): Readonly<Record<string, string>> {
  if (!failure) return {}
  const named = failedField(fields, failure)
  if (named) return { [named.name]: named.label + failure.message.slice(named.name.length) }
  const [first] = fields
  return first ? { [first.name]: failure.message } : {}
}
