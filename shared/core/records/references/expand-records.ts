import { requireRecordAccess } from '#shared/core/records/access.ts'
import { readFieldKeys } from '#shared/core/records/query/read-search.ts'
import { readRecordsByIds } from '#shared/core/records/query/search-records.ts'
import type { RecordView } from '#shared/core/records/record.ts'
import { type ExpandPath, type ExpandTarget, readExpandPaths } from '#shared/core/records/references/expand-paths.ts'
import { textLength } from '#shared/core/records/text-size.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { requireRecordType } from '#shared/core/types/record-type.ts'
import type { ByteLimit } from '#shared/platform/db/statements/byte-limit.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { pauseWhenDue } from '#shared/platform/kernel/process/thread-share.ts'

/** A record with those that its fields name, by the keys of the requested fields; null or left out where the caller may not read one. */
type ExpandedView = RecordView & { readonly expanded?: Readonly<Record<string, ExpandedValue>> }
type ExpandedValue = ExpandedView | null | readonly ExpandedView[]

/** Maximum different records that an answer adds to those that were asked for. */
const maxExpanded = 1_000

/** Maximum bytes of the added records in an answer; a record counts wherever it occurs. */
const maxBytes = 10_000_000

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
      const made = (await expansion.expandAll(paths, records, mostBytes)) ?? (await expansion.expandAll(paths, records, exactBytes))
      if (!made) throw tooLong()
      return made.map((record) => withoutFields(record, added))
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
    // A page of shorter records fits into memory, and a bound costs more round trips.
    const isShort = !type.longRecords && unread.length <= maxUnboundedRecords
    const fit: ByteLimit | undefined = isShort ? undefined : { maxBytes: maxBytes - this.#bytes, bytes: 0, isWhole: true }
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

  /** The records with what `readAll` read; undefined when that has more than `maxBytes`. A record that several others name is expanded once. */
  async expandAll(
    paths: readonly ExpandPath[],
    records: readonly RecordView[],
    sizeOf: (record: RecordView) => number,
  ): Promise<ExpandedView[] | undefined> {
    const known: Known = { sizeOf, made: new Map() }
    let bytes = 0
    const expanded: ExpandedView[] = []
    for (const record of records) {
      const made = this.#expand(paths, record, known)
      expanded.push(made.view)
      bytes += made.bytes
      if (bytes > maxBytes) return undefined
      await pauseWhenDue(this.#scope.db.owner)
    }
    return expanded
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

/** A bound of the bytes of a record as JSON: six for each UTF-16 unit of text, and 500 for the key and the form of each value. */
const mostBytes = ({ values }: RecordView): number => 6 * textLength(values) + 500 * Object.keys(values).length + 1_000

/** The bytes of a record as JSON, which takes as long as to send it. */
const exactBytes = (record: RecordView): number => Buffer.byteLength(JSON.stringify(record))

const tooLong = () => problem('VALIDATION_ERROR', 'expand must add at most 10 MB of records: ask for fewer paths, or a smaller limit')
