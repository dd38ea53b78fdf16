/** A table in Markdown. GitHub reads a vertical bar as the end of a cell, also within code, so it is escaped. */
export const markdownTable = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [rowOf(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(rowOf)].join('\n')

const rowOf = (cells: readonly string[]): string => `| ${cells.map(escapeCell).join(' | ')} |`

const escapeCell = (text: string): string => text.replace(/\s+/g, ' ').replaceAll('|', String.raw`\|`)

export const code = (text: string): string => `\`${text}\``

/** Names as code with commas between; `none` without any. */
export const codeList = (names: readonly string[]): string => names.map(code).join(', ') || 'none'

export const yesOrNo = (value: boolean): string => (value ? 'yes' : 'no')

/** A number with commas between thousands. */
export const formatCount = (count: number): string => count.toLocaleString('en-US')
