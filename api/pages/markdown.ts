import markdownIt from 'markdown-it'
import { Html } from '#api/pages/template.ts'

/** CommonMark without HTML, images and indented code, since an indented line is mostly meant as text. Line breaks are kept. */
const reader = markdownIt('commonmark', { html: false, linkify: false, breaks: true }).disable([
  'image',
  'code',
  'html_block',
  'html_inline',
])

const schemes = /^(?:https?:\/\/|mailto:|tel:)/i

// A refused link is shown as text.
reader.validateLink = (address) => schemes.test(address) && URL.canParse(address)

// The page title is the only h1, and no heading level is skipped, so the outline is complete for screen readers.
reader.core.ruler.push('lower_headings', ({ tokens }) => {
  let level = 1
  for (const token of tokens) {
    if (token.type === 'heading_open') level = Math.min(Number(token.tag.slice(1)) + 1, level + 1, 6)
    if (token.type === 'heading_open' || token.type === 'heading_close') token.tag = `h${level}`
  }
})

// Links open in a new tab, so a framed page loads no other page in its frame, and send no referrer.
reader.renderer.rules.link_open = (tokens, index, options, _, self) => {
  tokens[index]?.attrSet('rel', 'noopener noreferrer nofollow')
  tokens[index]?.attrSet('target', '_blank')
  return self.renderToken(tokens, index, options)
}

/**
 * Renders a workspace's Markdown: paragraphs, headings, lists, quotes, emphasis, code, rules and links to http, https, mailto and tel. HTML
 * in it is shown as text.
 */
export const markdown = (text: string): Html => new Html(reader.render(text))
