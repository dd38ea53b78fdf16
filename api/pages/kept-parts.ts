import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Scope } from '#shared/core/scope/scope.ts'
import { pauseWhenDue } from '#shared/platform/kernel/process/thread-share.ts'
import type { WorkOwner } from '#shared/platform/kernel/process/work-owner.ts'

/** The most bytes of kept parts in a process (page "Beyond", section 2). */
const maxBytes = 64_000_000

/**
 * Bytes of a part that answers show. A page is rendered with the short `mark` in their place: a long part is not copied for each visitor.
 */
export interface KeptPart {
  readonly mark: string
  readonly bytes: Buffer
}

/** Bytes of a part above which its answers are admitted by their bytes. */
const largeBytes = 256_000

interface Keeping {
  /** What the part was made from besides its key, compared by identity. */
  readonly source: object
  readonly part: Promise<KeptPart>
  bytes: number
}

/** Kept parts by the cached object that they show. The map's order is that of their last use. */
const parts = new Map<object, Keeping>()
let keptBytes = 0

/**
 * A part of visitors' answers that is the same for all of them, made once from two objects of the cache and kept while the cache returns the
 * same ones: a change drops an object from the cache, and the part is made again. `make` yields the part's pieces, between which the thread is
 * shared. What differs between visitors must not be in it: hidden ids, signed fields, sent values, slots.
 */
export function keepPart(owner: WorkOwner, shown: object, source: object, make: () => Iterable<string>): Promise<KeptPart> {
  const known = parts.get(shown)
  if (known?.source === source) {
    parts.delete(shown)
    parts.set(shown, known)
    return known.part
  }
  drop(shown)
  const keeping: Keeping = { source, part: joinPieces(owner, make()), bytes: 0 }
  parts.set(shown, keeping)
  keeping.part.then(
    ({ bytes }) => count(shown, keeping, bytes.length),
    () => {
      if (parts.get(shown) === keeping) drop(shown)
    },
  )
  return keeping.part
}

/** The body of a page that was rendered with the mark of a part, and its length in bytes. */
export function withKeptPart(text: string, { mark, bytes }: KeptPart): { readonly length: number; readonly open: () => Readable } {
  const [before = '', after = ''] = text.split(mark)
  const pieces = [Buffer.from(before), bytes, Buffer.from(after)]
  return { length: pieces.reduce((sum, piece) => sum + piece.length, 0), open: () => Readable.from(pieces) }
}

/** Admits an answer with a part of more than 256 KB by its bytes. */
export async function admitKeptPart(admit: Scope['admitAnswer'], { bytes }: KeptPart): Promise<void> {
  if (bytes.length > largeBytes) await admit?.(bytes.length)
}

async function joinPieces(owner: WorkOwner, pieces: Iterable<string>): Promise<KeptPart> {
  const written: Buffer[] = []
  for (const text of pieces) {
    written.push(Buffer.from(text))
    await pauseWhenDue(owner)
  }
  // Nobody can know the mark, so no text of a page holds it.
  return { mark: `<!--${randomUUID()}-->`, bytes: Buffer.concat(written) }
}

/** Counts a part once it is made, and drops the ones that were not used for the longest time. */
function count(shown: object, keeping: Keeping, bytes: number): void {
  if (parts.get(shown) !== keeping) return
  keeping.bytes = bytes
  keptBytes += bytes
  for (const oldest of parts.keys()) {
    if (keptBytes <= maxBytes) return
    drop(oldest)
  }
}

function drop(shown: object): void {
  keptBytes -= parts.get(shown)?.bytes ?? 0
  parts.delete(shown)
}
