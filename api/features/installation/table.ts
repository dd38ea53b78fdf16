import { template } from '#api/pages/template.ts'

interface Column {
  readonly text: string
  readonly isNumber: boolean
}

/** A text, or a link to another page of the console. */
type Cell = string | number | { readonly text: string; readonly address: string }

interface Table {
  /** Says what is in the table to who does not see it. */
  readonly label: string
  readonly empty: string
  readonly columns: readonly Column[]
  readonly rows: readonly (readonly Cell[])[]
}

export const renderTable = template<Table>(new URL('table.eta', import.meta.url))

export const textColumn = (text: string): Column => ({ text, isNumber: false })
export const numberColumn = (text: string): Column => ({ text, isNumber: true })
