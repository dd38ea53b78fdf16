import { type Token, Tokenizer, TokenizerMode } from 'parse5'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * A piece of an HTML template: HTML that is sent unchanged, a variable in text or in an attribute, or the value of a URL attribute, whose
 * scheme is checked once its variables are known.
 */
export type HtmlTemplatePart = string | { readonly name: string } | { readonly address: readonly (string | { readonly name: string })[] }

const variable = /\{\{[ \t]*([\w.-]{1,200})[ \t]*\}\}/

/** Splits text at its variables: alternates text and variable names, text first. Other braces are text. */
export const splitVariables = (text: string): readonly string[] => text.split(variable)

/** Attributes that hold a URL (HTML standard, Attributes). */
const urlAttributes = new Set(
  ['href', 'src', 'action', 'formaction', 'poster', 'background', 'cite', 'data', 'longdesc', 'manifest'].concat('xlink:href'),
)
/** Attributes that hold a script, a style or a list of URLs: escaping does not make a value safe in them. */
const isUnsafe = (attribute: string): boolean => /^(?:on.*|style|srcdoc|srcset|ping)$/.test(attribute)

/** Elements in which variables are not allowed, neither in their attributes nor in their content. */
const opaqueElements = new Set(['script', 'style', 'xmp', 'iframe', 'noscript', 'template', 'svg', 'math'])
const isForeign = (element: string): boolean => element === 'svg' || element === 'math'

/** Tokenizer modes of elements whose content is not HTML (HTML standard, Parsing HTML fragments). */
const tokenizerModes = new Map([
  ...['title', 'textarea'].map((element) => [element, TokenizerMode.RCDATA] as const),
  ...['style', 'xmp', 'iframe', 'noembed', 'noframes', 'noscript'].map((element) => [element, TokenizerMode.RAWTEXT] as const),
  ['script', TokenizerMode.SCRIPT_DATA] as const,
  ['plaintext', TokenizerMode.PLAINTEXT] as const,
])

/** A range of a template in which variables are allowed, as offsets into its HTML. */
interface VariableRange {
  readonly start: number
  end: number
  /** Name of the attribute whose value the range is; undefined for text. */
  readonly attribute?: string
}

/**
 * Splits HTML with {{variables}} into pieces. A variable may be in text and in a quoted attribute that holds neither a script nor a style.
 * Anywhere else a value could become markup: VALIDATION_ERROR naming the variable.
 */
export function parseHtml(html: string): readonly HtmlTemplatePart[] {
  const pieces: HtmlTemplatePart[] = []
  let offset = 0
  for (const { start, end, attribute } of findVariableRanges(html)) {
    const strings = splitVariables(html.slice(start, end))
    if (strings.length === 1) continue
    if (attribute === undefined) requireNoTagNames(strings)
    pieces.push(requireNoVariables(html.slice(offset, start)))
    if (attribute !== undefined && urlAttributes.has(attribute)) pieces.push({ address: toParts(strings) })
    else pieces.push(...toParts(strings))
    offset = end
  }
  return [...pieces, requireNoVariables(html.slice(offset))]
}

/**
 * The ranges of a template in which variables are allowed, in order. Only the tokenizer of parse5 is used: building the tree drops tags
 * such as body and td, whose attributes may contain variables, and takes five times as long (docs/decisions/html-templates.md).
 */
function findVariableRanges(html: string): readonly VariableRange[] {
  const ranges: VariableRange[] = []
  let opaque: { readonly element: string; depth: number } | undefined
  const text = ({ location }: Token.CharacterToken) => {
    if (opaque || !location) return
    const last = ranges.at(-1)
    if (last && last.attribute === undefined && last.end === location.startOffset) last.end = location.endOffset
    else ranges.push({ start: location.startOffset, end: location.endOffset })
  }
  const tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: true },
    {
      onStartTag: (tag) => {
        const { tagName: element, selfClosing } = tag
        const isEmpty = selfClosing && isForeign(element)
        if (opaque?.element === element && !isEmpty) opaque.depth++
        if (!opaque && !opaqueElements.has(element)) ranges.push(...findAttributeRanges(html, tag))
        if (!opaque && opaqueElements.has(element) && !isEmpty) opaque = { element, depth: 1 }
        if (opaque && isForeign(opaque.element)) tokenizer.inForeignNode = true
        else tokenizer.state = tokenizerModes.get(element) ?? tokenizer.state
      },
      onEndTag: ({ tagName }) => {
        if (opaque?.element !== tagName || --opaque.depth > 0) return
        opaque = undefined
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
  return ranges
}

/** Ranges of the values of a tag's quoted attributes. */
function findAttributeRanges(html: string, { attrs, location }: Token.TagToken): VariableRange[] {
  return attrs.flatMap(({ name }) => {
    const found = location?.attrs?.[name]
    if (!found || isUnsafe(name)) return []
    const written = html.slice(found.startOffset + name.length, found.endOffset)
    const value = written.replace(/^\s*=\s*/, '')
    const isQuoted = value.length > 1 && (value[0] === '"' || value[0] === "'")
    return isQuoted ? [{ start: found.endOffset - value.length + 1, end: found.endOffset - 1, attribute: name }] : []
  })
}

const toParts = (strings: readonly string[]) => strings.map((piece, index) => (index % 2 === 0 ? piece : { name: piece }))

/** A `<` that begins no tag is text, but the value of a variable right after it could make it a tag. */
function requireNoTagNames(strings: readonly string[]): void {
  const afterBracket = strings.findIndex((piece, index) => index % 2 === 0 && index < strings.length - 1 && piece.endsWith('<'))
  if (afterBracket >= 0) throw misplacedProblem(strings[afterBracket + 1] ?? '')
}

function requireNoVariables(html: string): string {
  const [, name] = splitVariables(html)
  if (name !== undefined) throw misplacedProblem(name)
  return html
}

const misplacedProblem = (name: string) =>
  problem('VALIDATION_ERROR', `body_html has {{${name}}} where no variable may stand: put it into text or into a quoted attribute`)
