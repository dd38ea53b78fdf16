import { requireRecordAccess } from '#shared/core/records/access.ts'
import { readFieldKeys } from '#shared/core/records/query/read-search.ts'
import { readRecordsByIds } from '#shared/core/records/query/search-records.ts'
import type { RecordView } from '#shared/core/records/record.ts'
import { type ExpandPath, type ExpandTarget, readExpandPaths } from '#shared/core/records/references/expand-paths.ts'
import { textLength } from '#shared/core/records/text-size.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { type RecordType, requireRecordType } from '#shared/core/types/record-type.ts'
import type { ByteLimit } from '#shared/platform/db/statements/byte-limit.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { pauseWhenDue } from '#shared/platform/kernel/process/thread-share.ts'

/** A record with those that its fields name, by the keys of the requested fields; null or left out where the caller may not read one. */
type ExpandedView = RecordView & { readonly expanded?: Readonly<Record<string, ExpandedValue>> }
type ExpandedValue = ExpandedView | null | readonly ExpandedView[]

/** Maximum different records that an answer adds to those that were asked for. */
const maxExpanded = 1_000

/** Maximum bytes of an answer of several records; a record counts wherever it occurs. */
const maxBytes = 10_000_000

/** Bytes that are put together before the thread may be given to others: more often, small answers would wait for each other. */
const pieceBytes = 1_000_000

/** Records that are read without a bound of bytes, where none of their type was ever long. */
const maxUnboundedRecords = 200

/** How records are read and changed to carry what they name. */
interface PreparedExpansion {
  /** The fields to read: those that are selected, and those of the paths. */
  readonly fields: string | undefined
  /** The records with those that they name, and only the selected fields. Each step is one statement, whatever the number of records. */
  readonly expand: (records: readonly RecordView[]) => Promise<ExpandedView[]>
}

/** Reads the parameters `expand` and `fields` of an answer of one type's records. Throws VALIDATION_ERROR like `readExpandPaths`. */
export async function prepareExpansion(
  scope: Scope,
  typeKey: string,
  expand: string,
  fields: string | undefined,
): Promise<PreparedExpansion> {
  const type = await requireRecordType(scope, typeKey)
  const access = requireRecordAccess(scope, type, 'records:read')
  const paths = await readExpandPaths(scope, type, access, expand)
  const selected = readFieldKeys(fields)
  const added = paths.map(({ field }) => field.key).filter((key) => selected?.includes(key) === false && !access.neverVisible.has(key))
  return {
    fields: selected && [...selected, ...added].join(),
    async expand(records) {
      const expansion = new Expansion(scope)
      await expansion.readAll(paths, records)
      return (await expansion.expandAll(paths, records)).map((record) => withoutFields(record, added))
    },
  }
}

function withoutFields(record: ExpandedView, keys: readonly string[]): ExpandedView {
  if (keys.length === 0) return record
  const values = Object.fromEntries(Object.entries(record.values).filter(([key]) => !keys.includes(key)))
  return { ...record, values }
}

/** The records that one answer adds. */
class Expansion {
  readonly #scope: Scope
  /** What was read of each type, by id; undefined for a record that does not exist or that the caller may not read. */
  readonly #found = new Map<string, Map<string, RecordView | undefined>>()
  #records = 0
  #bytes = 0
  #isAdmitted = false

  constructor(scope: Scope) {
    this.#scope = scope
  }

  /** Reads the records along the paths, one statement for each field. */
  async readAll(paths: readonly ExpandPath[], records: readonly RecordView[]): Promise<void> {
    for (const { field, target, next } of paths) {
      if (!target) continue
      const ids = new Set(records.flatMap(({ values }) => idsIn(values[field.key])))
      await this.#read(target, ids)
      if (next.length > 0)
        await this.readAll(
          next,
          [...ids].flatMap((id) => this.#of(target, id) ?? []),
        )
    }
  }

  async #read({ type, access }: ExpandTarget, ids: ReadonlySet<string>): Promise<void> {
    const found = this.#found.get(type.key) ?? new Map<string, RecordView | undefined>()
    this.#found.set(type.key, found)
    const unread = [...ids].filter((id) => !found.has(id))
    if (unread.length === 0) return
    const fit = await this.#boundOf(type, unread.length)
    const read = await readRecordsByIds(this.#scope, type, access, unread, maxExpanded - this.#records + 1, fit)
    this.#records += read.length
    this.#bytes += fit?.bytes ?? 0
    if (fit?.isWhole === false) throw tooLong()
    if (this.#records > maxExpanded)
      throw problem('VALIDATION_ERROR', `expand must add at most ${maxExpanded} different records: ask for fewer paths, or a smaller limit`)
    for (const id of unread) found.set(id, undefined)
    for (const record of read) found.set(record.id, record)
  }

  #of({ type }: ExpandTarget, id: string): RecordView | undefined {
    return this.#found.get(type.key)?.get(id)
  }

  /**
   * The bound of the bytes of so many more records, for which the whole answer is admitted; undefined for a page of shorter records, which
   * fits into memory: a bound costs more round trips.
   */
  async #boundOf({ longRecords }: RecordType, records: number): Promise<ByteLimit | undefined> {
    if (!longRecords && this.#records + records <= maxUnboundedRecords) return undefined
    if (!this.#isAdmitted) await this.#scope.admitAnswer?.(maxBytes)
    this.#isAdmitted = true
    return { maxBytes: maxBytes - this.#bytes, bytes: 0, isWhole: true }
  }

  /**
   * The records with what `readAll` read; a record that several others name is made once. Throws VALIDATION_ERROR where the answer is too
   * long; a single record may itself be longer.
   */
  async expandAll(paths: readonly ExpandPath[], records: readonly RecordView[]): Promise<ExpandedView[]> {
    const own = records.length > 1 ? records : []
    const rough = await this.#expandBy(paths, records, own, mostBytes)
    if (rough.bytes <= maxBytes) return rough.views
    const sizes = new Map<RecordView, number>()
    for (const record of [...own, ...[...this.#found.values()].flatMap((found) => [...found.values()])]) {
      if (record) sizes.set(record, Buffer.byteLength(JSON.stringify(record)))
      await pauseWhenDue(this.#scope.db.owner)
    }
    const exact = await this.#expandBy(paths, records, own, (record) => sizes.get(record) ?? 0)
    if (exact.bytes > maxBytes) throw tooLong()
    if (!this.#isAdmitted) await this.#scope.admitAnswer?.(exact.bytes)
    return exact.views
  }

  async #expandBy(
    paths: readonly ExpandPath[],
    records: readonly RecordView[],
    own: readonly RecordView[],
    sizeOf: (record: RecordView) => number,
  ): Promise<{ readonly views: ExpandedView[]; readonly bytes: number }> {
    const known: Known = { sizeOf, made: new Map() }
    let bytes = 0
    for (const record of own) bytes += sizeOf(record)
    const views: ExpandedView[] = []
    let ofPiece = 0
    for (const record of records) {
      const made = this.#expand(paths, record, known)
      views.push(made.view)
      bytes += made.bytes
      ofPiece += made.bytes
      if (bytes > maxBytes) break
      if (ofPiece <= pieceBytes) continue
      ofPiece = 0
      await pauseWhenDue(this.#scope.db.owner)
    }
    return { views, bytes }
  }

  /** A record with its expanded fields, and the bytes that they add to it. */
  #expand(paths: readonly ExpandPath[], record: RecordView, known: Known): Measured {
    let bytes = 0
    const expanded: Record<string, ExpandedValue> = {}
    for (const path of paths) {
      const value = record.values[path.field.key]
      const named = idsIn(value).flatMap((id) => {
        const one = this.#expandTarget(path, id, known)
        bytes += one?.bytes ?? 0
        return one ? [one.view] : []
      })
      const isHidden = value === undefined
      expanded[path.field.key] = path.field.type === 'refs' && !isHidden ? named : (named[0] ?? null)
    }
    return { view: { ...record, expanded }, bytes }
  }

  #expandTarget(path: ExpandPath, id: string, known: Known): Measured | undefined {
    const ofPath = known.made.get(path) ?? new Map<string, Measured>()
    known.made.set(path, ofPath)
    const before = ofPath.get(id)
    if (before) return before
    const record = path.target && this.#of(path.target, id)
    if (!record) return undefined
    const { view, bytes } = path.next.length > 0 ? this.#expand(path.next, record, known) : { view: record, bytes: 0 }
    const made = { view, bytes: bytes + known.sizeOf(record) }
    ofPath.set(id, made)
    return made
  }
}

/** What one pass over the records made of the records that paths lead to. */
interface Known {
  readonly sizeOf: (record: RecordView) => number
  readonly made: Map<ExpandPath, Map<string, Measured>>
}

interface Measured {
  readonly view: ExpandedView
  readonly bytes: number
}

/** The ids in the value of a `ref` or `refs` field, as a response carries it. */
const idsIn = (value: unknown): readonly string[] =>
  typeof value === 'string' ? [value] : Array.isArray(value) ? (value as readonly string[]) : []

/** A bound of the bytes of a record as JSON: six for each UTF-16 unit of text, and 140 for the key and the form of each value. */
const mostBytes = ({ values }: RecordView): number => 6 * textLength(values) + 140 * Object.keys(values).length + 1_000

const tooLong = () => problem('VALIDATION_ERROR', 'expand must make an answer of at most 10 MB: ask for fewer paths, or a smaller limit')
