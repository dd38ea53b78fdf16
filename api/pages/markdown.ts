import markdownIt from 'markdown-it'
import { Html } from '#api/pages/template.ts'

/** CommonMark without HTML, pictures and code from four spaces on, which is mostly an indented line. Line breaks stay. */
const reader = markdownIt('commonmark', { html: false, linkify: false, breaks: true }).disable([
  'image',
  'code',
  'html_block',
  'html_inline',
])

const schemes = /^(?:https?:\/\/|mailto:|tel:)/i

// A link that is refused stays text.
reader.validateLink = (address) => schemes.test(address) && URL.canParse(address)

// The title of the page is its only h1, and no level is left out: readers of the outline would look for what lies between.
reader.core.ruler.push('lower_headings', ({ tokens }) => {
  let level = 1
  for (const token of tokens) {
    if (token.type === 'heading_open') level = Math.min(Number(token.tag.slice(1)) + 1, level + 1, 6)
    if (token.type === 'heading_open' || token.type === 'heading_close') token.tag = `h${level}`
  }
})

// A page that is framed must not load others inside the frame, and none is told where its visitor came from.
reader.renderer.rules.link_open = (tokens, index, options, _, self) => {
  tokens[index]?.attrSet('rel', 'noopener noreferrer nofollow')
  tokens[index]?.attrSet('target', '_blank')
  return self.renderToken(tokens, index, options)
}

/**
 * Text of a workspace as HTML: paragraphs, headings, lists, quotes, emphasis, code, rules and links to http, https, mailto and tel. HTML in
 * it is shown as text.
 */
export const markdown = (text: string): Html => new Html(reader.render(text))
