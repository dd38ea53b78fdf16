import { readFile } from 'node:fs/promises'
import markdownIt, { type Token } from 'markdown-it'
import { headingSlugs } from '#api/pages/guide/heading-slugs.ts'
import { Html } from '#api/pages/template.ts'

/** A heading of a page with the text up to the next heading. */
export interface Section {
  readonly slug: string
  readonly heading: string
  /** 1 for the page's title. */
  readonly level: number
  readonly text: string
}

/** A page of docs/contract, rendered. */
export interface GuidePage {
  /** Last segment of its address, such as `queues`. */
  readonly name: string
  readonly title: string
  /** What the list of pages says about it. */
  readonly summary: string
  readonly sections: readonly Section[]
  readonly body: Html
}

const folder = new URL('../../../docs/contract/', import.meta.url)

/** Markers of the tables that are made from the code, which are for the writers of the pages. */
const markers = /^<!--.*-->$/gm

const readPage = async (name: string): Promise<string> => (await readFile(new URL(`${name}.md`, folder), 'utf8')).replace(markers, '')

/** A row of the list of pages in README.md. */
const row = /^\| \[[\w-]+\.md\]\(([\w-]+)\.md\) \| (.+) \|$/gm

/** Reads and renders the pages that README.md lists, in its order, for a guide below `address`, such as `/docs`. */
export async function readGuide(address: string): Promise<readonly GuidePage[]> {
  const pages = []
  for (const [, name = '', summary = ''] of (await readPage('README')).matchAll(row))
    pages.push({ name, summary, tokens: reader.parse(await readPage(name), {}) })
  const titles = new Map(pages.map(({ name, tokens }) => [name, textOf(tokens[1])]))
  return pages.map(({ name, summary, tokens }) => {
    const sections = sectionsOf(tokens)
    for (const { children } of tokens) if (children) adaptLinks(children, address, titles)
    const body = new Html(reader.renderer.render(tokens, reader.options, {}))
    return { name, summary, title: titles.get(name) ?? name, sections, body }
  })
}

const reader = markdownIt()
const { rules } = reader.renderer
const { escapeHtml } = reader.utils

// A wide table scrolls in itself; by keyboard only what takes the focus does.
rules.table_open = () => '<div class="table" role="group" aria-label="Table" tabindex="0"><table>\n'
rules.table_close = () => '</table></div>\n'
rules.heading_close = (tokens, index) => {
  const slug = tokens[index - 2]?.attrGet('id') ?? ''
  return `<a class="anchor" href="#${slug}" aria-hidden="true" tabindex="-1">#</a></${tokens[index]?.tag}>\n`
}
/** Calls begin with the status of their answer. */
rules.fence = (tokens, index) => {
  const { content = '' } = tokens[index] ?? {}
  const [first = '', status] = /^# (\d{3})\n/.exec(content) ?? []
  const caption = status === undefined ? '' : `<figcaption>Answers ${status}</figcaption>`
  return `<figure>${caption}<pre><code>${escapeHtml(content.slice(first.length))}</code></pre></figure>\n`
}

/** Cuts a page at its headings, and gives each heading its id. */
function sectionsOf(tokens: readonly Token[]): readonly Section[] {
  const starts = tokens.flatMap(({ type }, index) => (type === 'heading_open' ? [index] : []))
  const slugs = headingSlugs(starts.map((start) => tokens[start + 1]?.content ?? ''))
  return starts.map((start, index) => {
    const slug = slugs[index] ?? ''
    const [open, title] = tokens.slice(start, start + 2)
    open?.attrSet('id', slug)
    const text = tokens.slice(start + 3, starts[index + 1]).map(textOf)
    return { slug, heading: textOf(title), level: Number(open?.tag.slice(1)), text: text.join(' ').replace(/\s+/g, ' ').trim() }
  })
}

const textOf = (token: Token | undefined): string =>
  token?.type === 'td_close'
    ? '·'
    : (token?.children?.map(({ type, content }) => (type === 'softbreak' ? ' ' : content)).join('') ?? token?.content ?? '')

/** Leads links to pages of the guide, under their titles instead of their file names; shows links to other files as text. */
function adaptLinks(tokens: readonly Token[], address: string, titles: ReadonlyMap<string, string>): void {
  let isHidden = false
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'link_close') token.hidden = isHidden
    if (token.type !== 'link_open') continue
    const target = String(token.attrGet('href'))
    const [, name, fragment = ''] = /^([\w-]+)\.md(#.*)?$/.exec(target) ?? []
    const title = name === 'README' ? 'the overview' : titles.get(name ?? '')
    isHidden = title === undefined && !/^(?:#|https?:)/.test(target)
    token.hidden = isHidden
    if (title === undefined) continue
    token.attrSet('href', address + (name === 'README' ? '' : `/${name}`) + fragment)
    const label = tokens[index + 1]
    if (label?.content === `${name}.md`) label.content = title
  }
}
