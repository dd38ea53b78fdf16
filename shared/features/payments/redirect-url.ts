import { problem } from '#shared/platform/kernel/errors.ts'

// `URL` alone accepts `https:example.com` and drops blanks and line breaks.
const absoluteUrlPattern = /^https?:\/\/[^\s/?#\\]/i

/** Returns an absolute http or https URL; null for null, undefined and empty text. Throws VALIDATION_ERROR for any other text. */
export function requireRedirectUrl(text: string | null | undefined): string | null {
  if (text === null || text === undefined || text === '') return null
  if (!absoluteUrlPattern.test(text) || /[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) {
    throw problem('VALIDATION_ERROR', 'redirect_url must be an absolute http or https address')
  }
  return text
}
