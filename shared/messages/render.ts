import { problem } from '#shared/kernel/errors.ts'
import { type HtmlPiece, parseHtml, splitVariables } from '#shared/messages/html.ts'

/** The text that a variable stands for; empty for one that nothing is known of. */
export type Lookup = (name: string) => string

/** Characters that the values of the variables in one text may have together, so that it is rendered in some milliseconds. */
const mostCharacters = 1_048_576

/** The same texts, up to the bound; throws VALIDATION_ERROR beyond it. */
function bounded(lookup: Lookup): Lookup {
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
export function renderText(text: string, lookup: Lookup): string {
  const boundedLookup = bounded(lookup)
  return splitVariables(text)
    .map((piece, index) => (index % 2 === 0 ? piece : boundedLookup(piece)))
    .join('')
}

/** A subject with its variables put in: one line, whatever they hold. */
export const renderSubject = (text: string, lookup: Lookup): string =>
  renderText(text, lookup)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()

/** HTML with its variables put in, escaped; an attribute that holds an address leads to the web or a mailbox, or nowhere. */
export function renderHtml(html: string, lookup: Lookup): string {
  const boundedLookup = bounded(lookup)
  return parseHtml(html)
    .map((piece) => renderPiece(piece, boundedLookup))
    .join('')
}

function renderPiece(piece: HtmlPiece, lookup: Lookup): string {
  if (typeof piece === 'string') return piece
  if ('name' in piece) return escapeHtml(lookup(piece.name))
  // What stands in the template is HTML, what is put in is text: the scheme is that of both as a browser reads them.
  const read = piece.address.map((part) => (typeof part === 'string' ? unescapeHtml(part) : lookup(part.name))).join('')
  if (!isSafeAddress(read)) return '#'
  return piece.address.map((part) => (typeof part === 'string' ? part : escapeHtml(lookup(part.name)))).join('')
}

const isSafeAddress = (address: string): boolean => {
  // Browsers drop these wherever they stand in an address.
  const [, scheme] = /^([^/?#:]*):/.exec(address.replace(/[\p{Cc}\p{Z}]/gu, '')) ?? []
  return scheme === undefined || /^(?:https?|mailto)$/i.test(scheme)
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Text as HTML shows it, in text and in quoted attributes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (letter) => entities[letter] ?? letter)

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", colon: ':', tab: '\t', newline: '\n' }

/** The references that can spell a scheme: by number, and by the names that stand for letters of one. */
const unescapeHtml = (html: string): string =>
  html.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{1,8}));?/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return named[String(name).toLowerCase()] ?? whole
    const code = Number.parseInt(decimal ?? hex, decimal === undefined ? 16 : 10)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ''
  })
