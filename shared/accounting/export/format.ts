import type { Account } from '#shared/accounting/accounts.ts'
import type { StoredEntry } from '#shared/accounting/store/entries.ts'

/** The books as a file: what stands at its beginning, and the text of each entry. */
export interface ExportFormat {
  readonly contentType: string
  /** Behind the dot of the file's name. */
  readonly extension: string
  readonly head: (books: ExportedBooks) => string
  readonly entry: (entry: StoredEntry, accountOf: (id: string) => Account) => string
}

/** What is exported. */
export interface ExportedBooks {
  readonly workspaceId: string
  /** The instant before which the entries were posted. */
  readonly before: string
  readonly currencies: readonly string[]
  /** Every account that has lines. */
  readonly accounts: readonly Account[]
  /** The earliest date of an entry; null without entries. */
  readonly firstDate: string | null
}

/** Text on one line: control characters and line breaks of every kind become blanks. */
export const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
