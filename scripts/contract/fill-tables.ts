const marker = /^<!-- table: (\S+) -->$/
const end = '<!-- end of table -->'

/** Names of the tables that a page asks for, in its order. */
export const markersOf = (page: string): string[] =>
  page.split('\n').flatMap((line) => {
    const name = marker.exec(line)?.[1]
    return name === undefined ? [] : [name]
  })

/**
 * The page with a table after each marker `<!-- table: … -->`, closed by `<!-- end of table -->`; an earlier table is replaced. Throws an
 * error for a name without a table, for an end without a marker, and for text other than a table between the two.
 */
export function fillTables(page: string, tables: ReadonlyMap<string, string>): string {
  const lines = page.split('\n')
  const filled: string[] = []
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? ''
    if (line === end) throw new Error(`line ${index + 1} ends a table that has no marker`)
    filled.push(line)
    const name = marker.exec(line)?.[1]
    if (name === undefined) continue
    const table = tables.get(name)
    if (table === undefined) throw new Error(`there is no table ${name}; tables are ${[...tables.keys()].join(', ')}`)
    filled.push('', table, '', end)
    index = endOf(lines, index, name)
  }
  return filled.join('\n')
}

/** Index of the line that ends the earlier table of a marker; the marker's own index without such a table. */
function endOf(lines: readonly string[], start: number, name: string): number {
  const next = lines.findIndex((line, index) => index > start && (line === end || marker.test(line)))
  if (lines[next] !== end) return start
  const foreign = lines.slice(start + 1, next).find((line) => line !== '' && !line.startsWith('|'))
  if (foreign !== undefined) throw new Error(`move this line out of the table ${name}, which would replace it: ${foreign}`)
  return next
}
