import { template } from '#api/pages/template.ts'

interface Column {
  readonly text: string
  readonly kind: 'text' | 'short' | 'number'
}

/** A text that may lead to another page of the console. `more` is said below it. */
interface Cell {
  readonly text: string | number
  readonly address?: string | undefined
  readonly more?: string | undefined
}

interface Table {
  /** Says what is in the table to who does not see it. */
  readonly label: string
  readonly empty: string
  readonly columns: readonly Column[]
  readonly rows: readonly (readonly (string | number | Cell)[])[]
}

export const renderTable = template<Table>(new URL('table.eta', import.meta.url))

export const textColumn = (text: string): Column => ({ text, kind: 'text' })
/** A column of single words, which takes no more room than they need. */
export const shortColumn = (text: string): Column => ({ text, kind: 'short' })
export const numberColumn = (text: string): Column => ({ text, kind: 'number' })
