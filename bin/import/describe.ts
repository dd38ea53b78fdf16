import { formatCount } from '../client/progress-bar.ts'
import type { ApiTarget } from '../client/target.ts'
import { importedColumns, type PlannedColumn, type Proposal } from './propose.ts'

/** Describes a proposal in lines of text. */
export function describeProposal({ type, columns, rows }: Proposal): readonly string[] {
  const title = type.isNew ? `New record type ${type.key}` : `Record type ${type.key}, which is there already`
  const lines = columns.map((planned) => [planned.column.header || '(no name)', ...describeColumn(planned)])
  return [
    `${title}, ${formatCount(rows)} rows`,
    '',
    ...textTable([['column', 'field', 'type', 'for example'], ...lines]).map((line) => `  ${line}`),
  ]
}

function describeColumn(planned: PlannedColumn): readonly string[] {
  if (planned.plan === 'leave') return ['-', 'left out', planned.reason]
  const { options, example } = planned.column
  const type = planned.plan === 'fill' ? `${planned.type} (there already)` : planned.type
  return [planned.key, type, planned.plan === 'create' && options.length > 0 ? `one of ${options.join(', ')}` : example]
}

/** Maximum characters of a cell; longer cells are cut. */
const maxCellLength = 44

/** Formats rows as lines of text with aligned columns. */
function textTable(rows: readonly (readonly string[])[]): readonly string[] {
  const cut = rows.map((cells) => cells.map(shorten))
  const widths = (cut[0] ?? []).map((_, index) => Math.max(...cut.map((cells) => [...(cells[index] ?? '')].length)))
  return cut.map((cells) =>
    cells
      .map((cell, index) => cell + ' '.repeat((widths[index] ?? 0) - [...cell].length))
      .join('  ')
      .trimEnd(),
  )
}

function shorten(cell: string): string {
  const characters = [...cell.replace(/[\s\p{C}]+/gu, ' ').trim()]
  return characters.length <= maxCellLength ? characters.join('') : `${characters.slice(0, maxCellLength - 1).join('')}…`
}

/** Describes a proposal as JSON. */
export function proposalAsJson({ type, columns, rows }: Proposal) {
  return {
    type: { key: type.key, label: type.label, created: type.isNew },
    rows,
    columns: columns.map((planned) =>
      planned.plan === 'leave'
        ? { header: planned.column.header, field: null, reason: planned.reason }
        : {
            header: planned.column.header,
            field: planned.key,
            label: planned.label,
            type: planned.type,
            created: planned.plan === 'create',
            ...(planned.plan === 'create' && planned.type === 'select' ? { options: planned.column.options } : {}),
            example: planned.column.example,
          },
    ),
  }
}

/** The names of the columns that are left out. */
export const ignoredColumnsOf = ({ columns }: Proposal): string[] =>
  columns.flatMap(({ plan, column: { header } }) => (plan === 'leave' && header !== '' ? [header] : []))

/** A curl command that lists some of the imported records, quoted for a shell. */
export function exampleQuery({ api, orgId, shownKey }: ApiTarget, proposal: Proposal): string {
  const address = `${api.baseUrl}/orgs/${orgId}/records/${proposal.type.key}`
  const usable = importedColumns(proposal).filter(({ column: { filled, example } }) => filled > 0 && example.length <= longestExample)
  const column = Object.keys(operators).flatMap((type) => usable.find((candidate) => candidate.type === type) ?? [])[0]
  const filter = column && [{ field: column.key, op: operators[column.type], value: column.column.example.trim() }]
  const query = filter ? `filter=${encodeURIComponent(JSON.stringify(filter)).replaceAll("'", '%27')}` : 'limit=5'
  return `curl -H "Authorization: Bearer ${shownKey}" '${address}?${query}'`
}

/** Longest example, in characters, that the filter uses as its value. */
const longestExample = 60

/** Operator by field type with which a filter matches an example (docs/contract/records.md#filters); the most useful types first. */
const operators: Readonly<Record<string, string>> = {
  select: 'eq',
  string: 'contains',
  email: 'contains',
  date: 'gte',
  datetime: 'gte',
  bool: 'eq',
  number: 'gte',
  url: 'contains',
  text: 'contains',
}
