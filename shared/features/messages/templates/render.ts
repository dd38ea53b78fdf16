import { decodeHTMLAttribute } from 'entities'
import { type HtmlTemplatePart, parseHtml, splitVariables } from '#shared/features/messages/templates/parse-html.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** Value of a variable as text; empty for an unknown variable. */
export type VariableLookup = (name: string) => string

/** Maximum characters of all variable values in one text together, so that it renders within some milliseconds. */
const maxValueCharacters = 1_048_576

/** Wraps a lookup: throws VALIDATION_ERROR when its values together exceed the maximum. */
function limitLookup(lookup: VariableLookup): VariableLookup {
  let length = 0
  return (name) => {
    const text = lookup(name)
    length += text.length
    if (length > maxValueCharacters)
      throw problem(
        'VALIDATION_ERROR',
        `the variables of a message may stand for at most ${maxValueCharacters} characters together; use fewer or shorter ones`,
      )
    return text
  }
}

// Each render function makes one pass: braces in a value are literal.

/** Text with its variables replaced. */
export function renderText(text: string, lookup: VariableLookup): string {
  const boundedLookup = limitLookup(lookup)
  return splitVariables(text)
    .map((piece, index) => (index % 2 === 0 ? piece : boundedLookup(piece)))
    .join('')
}

/** A subject with its variables replaced. Line breaks and other control characters become blanks, so that it is one line. */
export const renderSubject = (text: string, lookup: VariableLookup): string =>
  renderText(text, lookup)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()

/**
 * HTML with its variables replaced by escaped values. A URL attribute whose scheme is not http, https or mailto becomes `#`; one without a
 * scheme stays.
 */
export function renderHtml(html: string, lookup: VariableLookup): string {
  const boundedLookup = limitLookup(lookup)
  return parseHtml(html)
    .map((piece) => renderPiece(piece, boundedLookup))
    .join('')
}

function renderPiece(piece: HtmlTemplatePart, lookup: VariableLookup): string {
  if (typeof piece === 'string') return piece
  if ('name' in piece) return escapeHtml(lookup(piece.name))
  const url = piece.address.map((part) => (typeof part === 'string' ? part : escapeHtml(lookup(part.name)))).join('')
  // Checks the scheme as a browser decodes it: the template may write it with character references.
  return isSafeAddress(decodeHTMLAttribute(url)) ? url : '#'
}

const isSafeAddress = (address: string): boolean => {
  // Browsers drop these characters anywhere in a URL.
  const [, scheme] = /^([^/?#:]*):/.exec(address.replace(/[\p{Cc}\p{Z}]/gu, '')) ?? []
  return scheme === undefined || /^(?:https?|mailto)$/i.test(scheme)
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Escapes text for HTML text and quoted attributes. */
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (letter) => entities[letter] ?? letter)
