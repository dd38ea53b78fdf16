import { problem } from '#shared/kernel/errors.ts'

// `URL` alone would take `https:example.com`, and drop blanks and line breaks.
const absolute = /^https?:\/\/[^\s/?#\\]/i

/** An absolute http or https address; null stays null, and empty text is none. Throws VALIDATION_ERROR for any other. */
export function requireRedirectUrl(text: string | null | undefined): string | null {
  if (text === null || text === undefined || text === '') return null
  if (!absolute.test(text) || /[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) {
    throw problem('VALIDATION_ERROR', 'redirect_url must be an absolute http or https address')
  }
  return text
}
