import { randomUUID } from 'node:crypto'
import { pauseWhenDue } from '#shared/platform/kernel/process/thread-share.ts'
import type { WorkOwner } from '#shared/platform/kernel/process/work-owner.ts'

/** The most bytes of kept parts in a process (docs/contract/public.md#kept-pages). */
const maxBytes = 64_000_000

/**
 * Bytes of a part that answers show. A page is rendered with the short `mark` in their place: a long part is not copied for each visitor.
 */
export interface PagePart {
  readonly mark: string
  readonly bytes: Buffer
  /** Whether it is kept for all visitors. */
  readonly isKept: boolean
}

interface Keeping {
  /** What the part was made from besides its key, compared by identity. */
  readonly source: object
  readonly part: Promise<PagePart>
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
export function keepPart(owner: WorkOwner, shown: object, source: object, make: () => Iterable<string>): Promise<PagePart> {
  const known = parts.get(shown)
  if (known?.source === source) {
    parts.delete(shown)
    parts.set(shown, known)
    return known.part
  }
  drop(shown)
  const keeping: Keeping = { source, part: makePart(owner, make(), true), bytes: 0 }
  parts.set(shown, keeping)
  keeping.part.then(
    ({ bytes }) => count(shown, keeping, bytes.length),
    () => {
      if (parts.get(shown) === keeping) drop(shown)
    },
  )
  return keeping.part
}

/** The pieces of a page that was rendered with the mark of a part. */
export function withPart(text: string, { mark, bytes }: PagePart): readonly Buffer[] {
  const [before = '', after = ''] = text.split(mark)
  return [Buffer.from(before), bytes, Buffer.from(after)]
}

/** Makes a part from its pieces, between which the thread is shared. */
export async function makePart(owner: WorkOwner, pieces: Iterable<string>, isKept = false): Promise<PagePart> {
  const written: Buffer[] = []
  for (const text of pieces) {
    written.push(Buffer.from(text))
    await pauseWhenDue(owner)
  }
  // Nobody can know the mark, so no text of a page holds it.
  return { mark: `<!--${randomUUID()}-->`, bytes: Buffer.concat(written), isKept }
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
