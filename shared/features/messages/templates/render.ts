import { decodeHTMLAttribute } from 'entities'
import { type HtmlTemplatePart, parseHtml, splitVariables } from '#shared/features/messages/templates/parse-html.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** The text that a variable stands for; empty for one that nothing is known of. */
export type VariableLookup = (name: string) => string

/** Characters that the values of the variables in one text may have together, so that it is rendered in some milliseconds. */
const mostCharacters = 1_048_576

/** The same texts, up to the bound; throws VALIDATION_ERROR beyond it. */
function bounded(lookup: VariableLookup): VariableLookup {
  let written = 0
  return (name) => {
    const text = lookup(name)
    written += text.length
    if (written > mostCharacters)
      throw problem(
        'VALIDATION_ERROR',
        `the variables of a message may stand for at most ${mostCharacters} characters together; use fewer or shorter ones`,
      )
    return text
  }
}

// Each is one pass: braces in a value stand for themselves.

/** Text with its variables put in. */
export function renderText(text: string, lookup: VariableLookup): string {
  const boundedLookup = bounded(lookup)
  return splitVariables(text)
    .map((piece, index) => (index % 2 === 0 ? piece : boundedLookup(piece)))
    .join('')
}

/** A subject with its variables put in: one line, whatever they hold. */
export const renderSubject = (text: string, lookup: VariableLookup): string =>
  renderText(text, lookup)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()

/** HTML with its variables put in, escaped; an attribute that holds an address leads to the web or a mailbox, or nowhere. */
export function renderHtml(html: string, lookup: VariableLookup): string {
  const boundedLookup = bounded(lookup)
  return parseHtml(html)
    .map((piece) => renderPiece(piece, boundedLookup))
    .join('')
}

function renderPiece(piece: HtmlTemplatePart, lookup: VariableLookup): string {
  if (typeof piece === 'string') return piece
  if ('name' in piece) return escapeHtml(lookup(piece.name))
  const written = piece.address.map((part) => (typeof part === 'string' ? part : escapeHtml(lookup(part.name)))).join('')
  // The scheme is checked in the address as a browser reads it: the template may spell it by character references.
  return isSafeAddress(decodeHTMLAttribute(written)) ? written : '#'
}

const isSafeAddress = (address: string): boolean => {
  // Browsers drop these wherever they stand in an address.
  const [, scheme] = /^([^/?#:]*):/.exec(address.replace(/[\p{Cc}\p{Z}]/gu, '')) ?? []
  return scheme === undefined || /^(?:https?|mailto)$/i.test(scheme)
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Text as HTML shows it, in text and in quoted attributes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (letter) => entities[letter] ?? letter)
