import type { Scope } from '#shared/core/scope/scope.ts'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import {
  type Amount,
  isEmptySide,
  parseAmount,
  requireCurrency,
  sumOf,
  writeAmount,
  writeDecimal,
} from '#shared/features/accounting/amount.ts'
import { requireDay } from '#shared/features/accounting/days.ts'
import { getEntry } from '#shared/features/accounting/entries/find.ts'
import { findEntryIdByKey, insertEntry, insertEntryOnce, type PostingResult } from '#shared/features/accounting/entries/posting-store.ts'
import type { Entry, EntryInput, EntryLine } from '#shared/features/accounting/entries/schemas.ts'
import { countPosted } from '#shared/features/accounting/metrics.ts'
import { wakeNumbering } from '#shared/platform/events/announce.ts'
import { type Problem, problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/** A line to post; either debit or credit is zero. */
interface PostingLine {
  readonly accountId: string
  readonly debit: Amount
  readonly credit: Amount
  readonly memo: string
}

/** A balanced entry to post; a null currency means the workspace's default currency. */
interface EntryDraft {
  readonly date: string
  readonly memo: string
  readonly sourceType: string
  readonly sourceId: string | null
  readonly currency: string | null
  readonly reverses: string | null
  readonly lines: readonly PostingLine[]
}

/**
 * Posts an entry for the route, the SDK and the flow block. A deduplication key identifies the cause of the entry, such as a flow's run,
 * node and iteration, when the cause may be processed again: posting again with the same key returns the first entry. Throws
 * VALIDATION_ERROR for a broken entry rule (docs/contract/accounting.md#posting), a closed date, a currency other than the workspace's in a
 * single-currency ledger, and an account id without a record.
 */
export function postEntry(scope: Scope, input: EntryInput, deduplicationKey?: string): Promise<Entry> {
  return postDraft(scope, parseDraft(scope, input), deduplicationKey)
}

/** Posts a draft that is already balanced, such as a reversal. Throws VALIDATION_ERROR as `postEntry` does. */
export async function postDraft(scope: Scope, draft: EntryDraft, deduplicationKey?: string): Promise<Entry> {
  const { db, workspace, actor } = scope
  const { lines: _, ...entryDraft } = draft
  const { date, memo, sourceType: source_type, sourceId: source_id, reverses } = draft
  const id = newId()
  const lines = draft.lines.map((line) => ({ id: newId(), ...line }))
  const total = sumOf(lines.map(({ debit }) => debit))
  const accounts = await findAccountsToCheck(scope, lines)
  const statement = deduplicationKey === undefined ? insertEntry : insertEntryOnce
  const [posted] = await db.query(
    statement({
      ...entryDraft,
      workspaceId: workspace.id,
      schema: schemaOf(workspace.id),
      id,
      total: writeDecimal(total),
      lineCount: lines.length,
      deduplicationKey,
      createdBy: actor.id,
      lineIds: lines.map((line) => line.id),
      accountIds: lines.map(({ accountId }) => accountId),
      debits: lines.map(({ debit }) => writeDecimal(debit)),
      credits: lines.map(({ credit }) => writeDecimal(credit)),
      memos: lines.map(({ memo }) => memo),
      checkedAccountIds: accounts.idsToCheck,
      cause: JSON.stringify(scope.cause),
    }),
  )
  if (posted?.id && posted.currency && posted.created_at) {
    const { currency, created_at } = posted
    accounts.rememberPosted()
    wakeNumbering(scope, 'soon')
    db.afterCommit(() => countPosted(reverses !== null))
    const views = lines.map((line) => viewLine(line, currency))
    const entry = { id, date, memo, source_type, source_id, total: writeAmount(total, currency), currency, created_at, lines: views }
    return reverses === null ? entry : { ...entry, reverses }
  }
  const existing = deduplicationKey === undefined ? undefined : await findEntryByKey(scope, deduplicationKey)
  if (existing) return existing
  throw posted ? refusalOf(posted, draft, accounts.idsToCheck) : problem('NOT_FOUND')
}

/** Maximum number of accounts with lines that a process remembers per workspace; their ids take about 1 MB. */
const maxKnownIds = 10_000

/**
 * Finds the accounts whose records a posting must check. An account with lines cannot be deleted (guard.ts), so an account that this
 * process has posted to is not checked again. Postings inside a transaction are not remembered, since it may roll back.
 */
async function findAccountsToCheck({ cache, db, workspace }: Scope, lines: readonly { readonly accountId: string }[]) {
  const knownIds = await cache.remember(db, workspace.id, 'accounts with lines', async () => new Set<string>())
  const idsToCheck = [...new Set(lines.map(({ accountId }) => accountId))].filter((id) => !knownIds.has(id))
  return {
    /** Ids whose records must be checked, without duplicates, in the order of the lines. */
    idsToCheck,
    /** Remembers, after the posting, that these accounts have lines. */
    rememberPosted: () => {
      if ('inTransaction' in db || knownIds.size + idsToCheck.length > maxKnownIds) return
      for (const id of idsToCheck) knownIds.add(id)
    },
  }
}

function viewLine({ id, accountId, debit, credit, memo }: PostingLine & { readonly id: string }, currency: string): EntryLine {
  return { id, account_id: accountId, debit: writeAmount(debit, currency), credit: writeAmount(credit, currency), memo }
}

/** The error of an entry that the books refused. */
function refusalOf(
  { refusal, unknown_account_position: position, books_closed_through: closed, default_currency }: PostingResult,
  { date, reverses, lines }: EntryDraft,
  checkedIds: readonly string[],
): Problem {
  if (refusal === 'unknown_account') {
    const lineIndex = lines.findIndex(({ accountId }) => accountId === checkedIds[(position ?? 0) - 1])
    return problem(
      'VALIDATION_ERROR',
      `lines[${lineIndex}].account_id must be the id of an accounts record of this workspace; GET …/records/accounts lists them`,
    )
  }
  if (refusal === 'closed_date') {
    const advice = reverses === null ? '' : '; send a {"date"} that is open to reverse it on that day'
    return problem('VALIDATION_ERROR', `date ${date} is closed: the books are closed through ${closed}${advice}`)
  }
  if (refusal === 'other_currency')
    return problem('VALIDATION_ERROR', `currency must be ${default_currency}: the workspace keeps its books in its default currency only`)
  return problem('INTERNAL', undefined, { cause: new Error('An entry was neither posted nor refused') })
}

/** The entry already posted with a deduplication key. */
async function findEntryByKey(scope: Scope, deduplicationKey: string): Promise<Entry | undefined> {
  const [found] = await scope.db.query(findEntryIdByKey({ workspaceId: scope.workspace.id, deduplicationKey }))
  return found && getEntry(scope, found.id)
}

/** Checks the input by the rules of posting and converts it to a draft. Throws VALIDATION_ERROR. */
function parseDraft({ workspace, now }: Scope, input: EntryInput): EntryDraft {
  const currency = input.currency ?? null
  if (currency !== null) requireCurrency(currency)
  const date = input.date == null ? now().toISOString().slice(0, 10) : requireDay(input.date, 'date')
  const lines = input.lines.map(parseLine)
  const [debits, credits] = [sumOf(lines.map(({ debit }) => debit)), sumOf(lines.map(({ credit }) => credit))]
  if (debits !== credits) {
    const [debit, credit] = [debits, credits].map((total) => writeAmount(total, currency ?? workspace.default_currency))
    throw problem('VALIDATION_ERROR', `lines must balance: debits are ${debit}, credits are ${credit}`)
  }
  const { memo, source_type, source_id } = input
  return { date, memo: memo ?? '', sourceType: source_type ?? 'manual', sourceId: source_id ?? null, currency, reverses: null, lines }
}

function parseLine({ account_id, debit, credit, memo }: EntryInput['lines'][number], index: number): PostingLine {
  return { accountId: account_id.toLowerCase(), ...readSides({ debit, credit }, `lines[${index}]`), memo: memo ?? '' }
}

/** Reads the debit and the credit of a line, exactly one of which is above zero. Throws VALIDATION_ERROR naming `path`. */
export function readSides({ debit, credit }: Pick<EntryInput['lines'][number], 'debit' | 'credit'>, path: string) {
  const [isDebitEmpty, isCreditEmpty] = [isEmptySide(debit), isEmptySide(credit)]
  if (isDebitEmpty && isCreditEmpty) throw problem('VALIDATION_ERROR', `${path} must have a debit or a credit above zero`)
  const sides = {
    debit: isDebitEmpty ? 0n : parseAmount(debit, `${path}.debit`),
    credit: isCreditEmpty ? 0n : parseAmount(credit, `${path}.credit`),
  }
  if (!isDebitEmpty && !isCreditEmpty) throw problem('VALIDATION_ERROR', `${path} must have either a debit or a credit, not both`)
  return sides
}
