import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { headingSlugs } from '#api/pages/guide/heading-slugs.ts'
import { suggestSpelling } from '#shared/platform/kernel/known-keys.ts'
import { findNearestName } from '#shared/platform/kernel/similar-names.ts'
import { type Page, readPages } from '#test/architecture/pages.ts'
import { eachFile, isAny, type Rule } from '#test/architecture/rule.ts'

const root = join(import.meta.dirname, '..', '..')

/** A page of docs as texts name it: its path from the root, with a heading or without one. */
const citation = /(?<![\w./-])docs\/[\w./-]+\.md(?:#[\w-]*)?/g

/** The citations of a text that do not open. */
const wrongCitations = ({ path, text }: Page): string[] =>
  [...text.matchAll(citation)].flatMap(({ 0: address, index }) => {
    const problem = problemOf(address, path)
    return problem === undefined ? [] : [`line ${lineOf(text, index)}: ${problem}`]
  })

/** Links to the same page, to another one or to a file, in Markdown and in HTML; addresses with a scheme are excluded. */
const link = /(?:\]\(\s*|(?:src|href)=")(?![a-z][a-z\d+.-]*:)([^\s)"]+)/gi

/** The relative links of a page that do not open. */
function wrongLinks({ path, text }: Page): string[] {
  const prose = withoutFences(text).replace(/`[^`\n]*`/g, blank)
  return [...prose.matchAll(link)].flatMap(({ 1: target = '', index }) => {
    const address = target.startsWith('#') ? path + target : posix.join(dirname(path), target)
    const problem = problemOf(address, path)
    return problem === undefined ? [] : [`line ${lineOf(text, index)}: ${problem}`]
  })
}

/** White space in a comment, also across its lines. */
const gap = String.raw`(?:\s|\*|//)+`
/** Citations of rules by other texts than the pages of docs, as comments had them once. */
const retired = new RegExp(
  [
    String.raw`\b[Dd]ocuments?${gap}[1-5]\b(?!,\d)`,
    String.raw`\b[Dd]ecisions"?,${gap}["\`]?[A-Z]\w+`,
    String.raw`\([Dd]ecisions\)`,
    String.raw`\b[Pp]age${gap}"?Beyond\b`,
    String.raw`\b[Pp]age${gap}[45]\b(?!,\d)`,
    String.raw`\(design,${gap}\w+`,
  ].join('|'),
  'g',
)

/** The citations of a text in a form that opens nothing. */
const retiredCitations = ({ text }: Page): string[] =>
  [...text.matchAll(retired)].map(({ 0: form, index }) => {
    const plain = form.replace(new RegExp(gap, 'g'), ' ')
    return `line ${lineOf(text, index)}: cite docs/contract/<page>.md#<heading> instead of "${plain}"`
  })

/** The links and citations of pages that do not open, or have a form that opens nothing. */
export const wrongReferences = (pages: readonly Page[]): string[] =>
  pages.flatMap((page) =>
    [...wrongLinks(page), ...wrongCitations(page), ...retiredCitations(page)].map((problem) => `${page.path}: ${problem}`),
  )

/** Why a path from the root, perhaps with a heading, does not open. Undefined when it does. */
function problemOf(address: string, from: string): string | undefined {
  const [path = '', slug] = address.split('#')
  if (path.startsWith('..') || !existsSync(join(root, path))) return `there is no ${path}; did you mean ${nearestPage(path, from)}?`
  if (slug === undefined) return undefined
  const slugs = path.endsWith('.md') ? slugsOf(path) : []
  return slugs.includes(slug) ? undefined : `${path} has no heading #${slug}${suggestSpelling(slug, slugs)}`
}

let paths: readonly string[] | undefined
/** The page that a text may have meant by a path. */
function nearestPage(path: string, from: string): string | undefined {
  paths ??= readPages().map((page) => page.path)
  return findNearestName(
    path,
    paths.filter((other) => other !== from),
  )
}

const slugsByPath = new Map<string, readonly string[]>()
/** The slugs of a page's headings. */
function slugsOf(path: string): readonly string[] {
  const known = slugsByPath.get(path)
  if (known !== undefined) return known
  const text = withoutFences(readFileSync(join(root, path), 'utf8'))
  const slugs = headingSlugs([...text.matchAll(/^#{1,6} +(.+?)(?: +#+)? *$/gm)].map(([, heading = '']) => heading))
  slugsByPath.set(path, slugs)
  return slugs
}

const blank = (text: string): string => text.replace(/[^\n]/g, ' ')
/** The text with its fenced blocks as blanks, so that places stay. */
const withoutFences = (text: string): string => text.replace(/^ *(```+|~~~+)[^\n]*\n[\s\S]*?^ *\1 *$/gm, blank)

const lineOf = (text: string, index: number): number => text.slice(0, index).split('\n').length

// Addresses in two parts, so that this file does not break its own rule.
const missing = ['docs/', 'contract/queues.md#unheard-of']
export const linkRules: readonly Rule[] = [
  eachFile('every page of docs that a source names opens, with its heading', isAny, wrongCitations, {
    'shared/a.ts': `/** Claims an item (${missing.join('')}). */`,
    'shared/b.ts': `// See ${missing[0]}decisions/unheard-of.md.`,
  }),
  eachFile('sources cite rules by pages of docs', isAny, retiredCitations, {
    'shared/a.ts': `/** Finds records (document ${1}, Search mode). */`,
    'shared/b.ts': `/**\n * Reminds the host (decisions,\n * ${'Calendar'}). */`,
  }),
]
