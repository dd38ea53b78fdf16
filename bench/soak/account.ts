import { withClient } from '#bench/servers/connection.ts'
import { type Row, readBooks } from '#bench/soak/books.ts'
import type { Expected, Ledger, Place } from '#bench/soak/ledger.ts'

/** One check against the database: how many things it covers, and the violations. */
export interface Finding {
  readonly what: string
  readonly count: number
  readonly wrong: readonly string[]
}

/** Compares everything that callers remember with the database. No finding should have a violation. */
export function account(databaseUrl: string, places: readonly Place[], ledger: Ledger): Promise<readonly Finding[]> {
  return withClient(databaseUrl, async (db) => {
    const found: Finding[] = []
    for (const place of places) {
      const expected = [...ledger.expected.values()].filter((one) => one.place === place)
      found.push(...check(expected, await readBooks(db, place)))
    }
    return [...Map.groupBy(found, ({ what }) => what)].map(([what, all]) => ({
      what,
      count: all.reduce((sum, { count }) => sum + count, 0),
      wrong: all.flatMap(({ wrong }) => wrong),
    }))
  })
}

type Books = Awaited<ReturnType<typeof readBooks>>

function check(expected: readonly Expected[], books: Books): Finding[] {
  const { rows, created, updated, deleted, notified } = books
  const known = new Map(expected.map((one) => [one.mark, one]))
  const rowsOf = (mark: string) => rows.get(mark) ?? []
  const isThere = (one: Expected) => rowsOf(one.mark).length > 0
  const made = expected.filter(({ made }) => made === 'yes')
  const open = expected.filter(({ made }) => made === 'maybe')
  const ids = [...rows.values()].flat().map(({ id }) => id)
  const everMade = [...created.keys()]
  const changes = expected.flatMap((one) => [...one.changes].map(([notes, known]) => ({ one, notes, known })))
  const files = [
    ...Map.groupBy(
      expected.filter(({ group }) => group !== undefined),
      ({ group }) => group,
    ),
  ]
  const numbers = [...created.values()].flat().map(({ number }) => number)
  return [
    finding(
      'acknowledged creations exist once',
      made.filter(({ gone }) => gone === 'no'),
      (one) => unless(rowsOf(one.mark).length === 1, `${one.mark}: ${rowsOf(one.mark).length} rows`),
    ),
    finding('their ids, numbers and values are those of the answers', made.filter(isThere), (one) => differs(one, rowsOf(one.mark)[0])),
    finding('creations without an answer exist at most once', open, (one) =>
      unless(rowsOf(one.mark).length <= 1, `${one.mark}: ${rowsOf(one.mark).length} rows`),
    ),
    finding(
      'refused creations do not exist',
      expected.filter(({ made }) => made === 'no'),
      (one) => unless(!isThere(one), one.mark),
    ),
    finding('files were imported completely or not at all', files, ([group, ofGroup]) => {
      const there = ofGroup.filter(isThere).length
      return unless(there === 0 || there === ofGroup.length, `${group}: ${there} of ${ofGroup.length} rows`)
    }),
    finding('every record was requested', [...rows.keys()], (mark) => unless(known.has(mark), mark)),
    finding(
      'acknowledged deletions',
      expected.filter(({ gone }) => gone === 'yes'),
      (one) => unless(!isThere(one), one.mark),
    ),
    finding('acknowledged changes have one audit entry, others at most one', changes, ({ one, notes, known }) => {
      const entries = updated.get(notes) ?? 0
      return unless(entries === 1 || (entries === 0 && known !== 'yes'), `${one.mark}, ${notes}: ${entries} entries`)
    }),
    finding('every record has one entry of its creation', [...new Set([...ids, ...everMade])], (id) =>
      unless(created.get(id)?.length === 1, `${id}: ${created.get(id)?.length ?? 0} entries`),
    ),
    finding('every deleted record has one entry of its deletion, the others none', [...new Set([...ids, ...everMade])], (id) => {
      const entries = deleted.get(id) ?? 0
      return unless(entries === (books.ids.has(id) ? 0 : 1), `${id}: ${entries} entries`)
    }),
    finding('every creation was notified once', everMade, (id) =>
      unless(notified.get(id) === 1, `${id}: ${notified.get(id) ?? 0} notifications`),
    ),
    finding('every notification is of a creation', [...notified.keys()], (id) => unless(created.has(id), id)),
    finding('numbers are distinct', numbers, (number, index) => unless(books.firstOf(number) === index, `${number}`)),
    finding('the count of records is right', [books.counted], (counted) => unless(counted === ids.length, `${counted}`)),
    finding('every operation has ended', books.operations, ({ kind, status, error }) =>
      unless(status === 'done', `${kind} ${status} ${error ?? ''}`),
    ),
    finding(
      'runs are recorded once',
      books.operations.filter(({ kind }) => kind === 'functions.invoke'),
      ({ id }) => unless(books.runs.get(id) === 1, `${id}: ${books.runs.get(id) ?? 0} runs`),
    ),
  ]
}

function differs({ mark, id, number, notes, changes }: Expected, row: Row | undefined): string | undefined {
  if (!row) return undefined
  const maybe = [...changes].filter(([, known]) => known === 'maybe').map(([text]) => text)
  if (id !== undefined && row.id !== id) return `${mark}: id ${row.id}, answered ${id}`
  if (number !== undefined && row.number !== number) return `${mark}: number ${row.number}, answered ${number}`
  return [notes, ...maybe].includes(row.notes) ? undefined : `${mark}: notes "${row.notes}", answered "${notes}"`
}

function finding<T>(what: string, all: readonly T[], wrongOf: (one: T, index: number) => string | undefined): Finding {
  return { what, count: all.length, wrong: all.map(wrongOf).filter((text) => text !== undefined) }
}

const unless = (isRight: boolean, text: string): string | undefined => (isRight ? undefined : text)
