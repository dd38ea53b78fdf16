import type { Account } from '#shared/features/accounting/accounts/accounts.ts'
import type { StoredEntry } from '#shared/features/accounting/entries/store.ts'

/** A file format of the export: its header and the text of each entry. */
export interface ExportFormat {
  readonly contentType: string
  /** File name extension without the dot. */
  readonly extension: string
  readonly writeHeader: (books: ExportedBooks) => string
  readonly writeEntry: (entry: StoredEntry, accountOf: (id: string) => Account) => string
}

/** The exported ledger, as a format's header needs it. */
interface ExportedBooks {
  readonly workspaceId: string
  /** Exclusive instant: the entries were posted before it. */
  readonly before: string
  readonly currencies: readonly string[]
  /** Every account with lines. */
  readonly accounts: readonly Account[]
  /** Date of the earliest entry; null without entries. */
  readonly firstDate: string | null
}

/** Replaces control characters and all kinds of line breaks with blanks. */
export const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
