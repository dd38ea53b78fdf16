import { problem } from '#shared/kernel/errors.ts'

/**
 * A piece of an HTML template: text that stands as it is, a variable in text or in an attribute, or the value of an attribute that holds
 * an address, whose scheme is judged when its variables are known.
 */
export type HtmlPiece = string | { readonly name: string } | { readonly address: readonly (string | { readonly name: string })[] }

const variable = /\{\{[ \t]*([\w.-]{1,200})[ \t]*\}\}/

/** Text that stands as it is and the names of variables, by turns, beginning with text. Other braces stand for themselves. */
export const splitVariables = (text: string): readonly string[] => text.split(variable)

/** Attributes that hold an address (HTML standard, Attributes), and those that hold a program or a style, in which no value can be escaped. */
const addresses = new Set([
  'href',
  'src',
  'action',
  'formaction',
  'poster',
  'background',
  'cite',
  'data',
  'longdesc',
  'manifest',
  'xlink:href',
])
const isProgram = (attribute: string): boolean => /^(?:on.*|style|srcdoc|srcset|ping)$/.test(attribute)

/** What a template is cut into: what no variable may stand in, a tag, or text. Comments, scripts and styles end where browsers end them. */
const parts =
  /(<!--.*?(?:-->|$)|<(script|style|xmp|iframe|noscript|template|svg|math)\b.*?(?:<\/\2\s*>|$)|<[!?/][^>]*(?:>|$))|(<[a-z][^\s/>]*)((?:"[^"]*(?:"|$)|'[^']*(?:'|$)|[^'">])*)(>|$)/gis
const quoted = /"[^"]*"?|'[^']*'?/g
// No part of it can fail once it has begun: a tag of 200,000 letters is looked at once.
const attribute = /([^\s"'<>/=]+)(\s*=\s*)?("[^"]*"?|'[^']*'?|[^\s"'<>]+)?/gs

/**
 * Cuts HTML with {{variables}} into pieces. A variable may stand in text and in a quoted attribute that holds neither a program nor a
 * style; anywhere else a value could become markup, so it is a VALIDATION_ERROR that names the variable.
 */
export function parseHtml(html: string): readonly HtmlPiece[] {
  const pieces: HtmlPiece[] = []
  let at = 0
  for (const match of html.matchAll(parts)) {
    pieces.push(...inText(html.slice(at, match.index)))
    const [whole, closed, , begin = '', attributes = '', end = ''] = match
    if (closed !== undefined) pieces.push(plain(whole))
    else pieces.push(plain(begin), ...attributePieces(attributes), plain(end))
    at = match.index + whole.length
  }
  pieces.push(...inText(html.slice(at)))
  return pieces
}

/** A `<` that begins no tag is text to a browser as well, unless a value makes it one. */
function inText(text: string): HtmlPiece[] {
  const strings = splitVariables(text)
  const afterBracket = strings.findIndex((piece, index) => index % 2 === 0 && index < strings.length - 1 && piece.endsWith('<'))
  if (afterBracket >= 0) throw misplaced(strings[afterBracket + 1] ?? '')
  return named(strings)
}

function attributePieces(text: string): HtmlPiece[] {
  plain(text.replace(quoted, '""'))
  const pieces: HtmlPiece[] = []
  let at = 0
  for (const match of text.matchAll(attribute)) {
    const [whole, name = '', equals = '', value = ''] = match
    const key = name.toLowerCase()
    const strings = splitVariables(value.slice(1, -1))
    if (strings.length === 1) continue
    const quote = value[0] ?? ''
    if (equals === '' || quote !== value.at(-1) || isProgram(key)) throw misplaced(strings[1] ?? '')
    const opened = match.index + whole.length - value.length + 1
    pieces.push(plain(text.slice(at, opened)), ...(addresses.has(key) ? [{ address: named(strings) }] : named(strings)))
    at = opened + value.length - 2
  }
  return [...pieces, plain(text.slice(at))]
}

const named = (strings: readonly string[]) => strings.map((piece, index) => (index % 2 === 0 ? piece : { name: piece }))

/** Text in which no variable may stand. */
function plain(text: string): string {
  const [, name] = splitVariables(text)
  if (name !== undefined) throw misplaced(name)
  return text
}

const misplaced = (name: string) =>
  problem('VALIDATION_ERROR', `body_html has {{${name}}} where no variable may stand: put it into text or into a quoted attribute`)
