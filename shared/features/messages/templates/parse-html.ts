import { type Token, Tokenizer, TokenizerMode } from 'parse5'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * A piece of an HTML template: HTML that is sent as it is, a variable in text or in an attribute, or the value of an attribute that holds an
 * address, whose scheme is checked once its variables are known.
 */
export type HtmlTemplatePart = string | { readonly name: string } | { readonly address: readonly (string | { readonly name: string })[] }

const variable = /\{\{[ \t]*([\w.-]{1,200})[ \t]*\}\}/

/** Splits text at its variables: text and names of variables in turn, beginning with text. Other braces are text. */
export const splitVariables = (text: string): readonly string[] => text.split(variable)

/** Attributes that hold an address (HTML standard, Attributes). */
const addresses = new Set(
  ['href', 'src', 'action', 'formaction', 'poster', 'background', 'cite', 'data', 'longdesc', 'manifest'].concat('xlink:href'),
)
/** Attributes that hold a program, a style or a list of addresses: escaping does not make a value safe in them. */
const isProgram = (attribute: string): boolean => /^(?:on.*|style|srcdoc|srcset|ping)$/.test(attribute)

/** Elements that may hold no variable, neither in their start tag nor up to their end tag. */
const closed = new Set(['script', 'style', 'xmp', 'iframe', 'noscript', 'template', 'svg', 'math'])
const isForeign = (element: string): boolean => element === 'svg' || element === 'math'

/** How the content of an element is tokenized where it is not HTML (HTML standard, Parsing HTML fragments). */
const modes = new Map([
  ...['title', 'textarea'].map((element) => [element, TokenizerMode.RCDATA] as const),
  ...['style', 'xmp', 'iframe', 'noembed', 'noframes', 'noscript'].map((element) => [element, TokenizerMode.RAWTEXT] as const),
  ['script', TokenizerMode.SCRIPT_DATA] as const,
  ['plaintext', TokenizerMode.PLAINTEXT] as const,
])

/** A part of a template that may hold variables. */
interface Place {
  readonly start: number
  end: number
  /** The name of the attribute whose value it is; undefined for text. */
  readonly attribute?: string
}

/**
 * Cuts HTML with {{variables}} into pieces. A variable may be in text and in a quoted attribute that holds neither a program nor a style;
 * anywhere else a value could become markup, so it is a VALIDATION_ERROR that names the variable.
 */
export function parseHtml(html: string): readonly HtmlTemplatePart[] {
  const pieces: HtmlTemplatePart[] = []
  let at = 0
  for (const { start, end, attribute } of placesIn(html)) {
    const strings = splitVariables(html.slice(start, end))
    if (strings.length === 1) continue
    if (attribute === undefined) refuseTagNames(strings)
    pieces.push(withoutVariables(html.slice(at, start)))
    if (attribute !== undefined && addresses.has(attribute)) pieces.push({ address: named(strings) })
    else pieces.push(...named(strings))
    at = end
  }
  return [...pieces, withoutVariables(html.slice(at))]
}

/**
 * The places of a template, in order. Only the tokenizer of parse5 is used: building the tree drops tags such as body and td, whose
 * attributes may hold variables, and takes five times as long (docs/decisions/html-templates.md).
 */
function placesIn(html: string): readonly Place[] {
  const places: Place[] = []
  let inside: { readonly element: string; depth: number } | undefined
  const text = ({ location }: Token.CharacterToken) => {
    if (inside || !location) return
    const last = places.at(-1)
    if (last && last.attribute === undefined && last.end === location.startOffset) last.end = location.endOffset
    else places.push({ start: location.startOffset, end: location.endOffset })
  }
  const tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: true },
    {
      onStartTag: (tag) => {
        const { tagName: element, selfClosing } = tag
        const isEmpty = selfClosing && isForeign(element)
        if (inside?.element === element && !isEmpty) inside.depth++
        if (!inside && !closed.has(element)) places.push(...attributesOf(html, tag))
        if (!inside && closed.has(element) && !isEmpty) inside = { element, depth: 1 }
        if (inside && isForeign(inside.element)) tokenizer.inForeignNode = true
        else tokenizer.state = modes.get(element) ?? tokenizer.state
      },
      onEndTag: ({ tagName }) => {
        if (inside?.element !== tagName || --inside.depth > 0) return
        inside = undefined
        tokenizer.inForeignNode = false
      },
      onCharacter: text,
      onWhitespaceCharacter: text,
      onNullCharacter: text,
      onComment: () => undefined,
      onDoctype: () => undefined,
      onEof: () => undefined,
    },
  )
  tokenizer.write(html, true)
  return places
}

/** The values of a tag's quoted attributes. */
function attributesOf(html: string, { attrs, location }: Token.TagToken): Place[] {
  return attrs.flatMap(({ name }) => {
    const found = location?.attrs?.[name]
    if (!found || isProgram(name)) return []
    const written = html.slice(found.startOffset + name.length, found.endOffset)
    const value = written.replace(/^\s*=\s*/, '')
    const isQuoted = value.length > 1 && (value[0] === '"' || value[0] === "'")
    return isQuoted ? [{ start: found.endOffset - value.length + 1, end: found.endOffset - 1, attribute: name }] : []
  })
}

const named = (strings: readonly string[]) => strings.map((piece, index) => (index % 2 === 0 ? piece : { name: piece }))

/** A `<` that begins no tag is text, but the value of a variable right behind it could make it a tag. */
function refuseTagNames(strings: readonly string[]): void {
  const afterBracket = strings.findIndex((piece, index) => index % 2 === 0 && index < strings.length - 1 && piece.endsWith('<'))
  if (afterBracket >= 0) throw misplaced(strings[afterBracket + 1] ?? '')
}

function withoutVariables(html: string): string {
  const [, name] = splitVariables(html)
  if (name !== undefined) throw misplaced(name)
  return html
}

const misplaced = (name: string) =>
  problem('VALIDATION_ERROR', `body_html has {{${name}}} where no variable may stand: put it into text or into a quoted attribute`)
