import { Html } from '#api/pages/template.ts'
import { pauseWhenDue } from '#shared/platform/kernel/process/thread-share.ts'

/** The most bytes of kept parts in a process (page "Beyond", section 2). */
const maxBytes = 64_000_000

interface KeptPart {
  /** What the part was made from besides its key, compared by identity. */
  readonly source: object
  readonly html: Promise<Html>
  bytes: number
}

/** Kept parts by the cached object that they show. The map's order is that of their last use. */
const parts = new Map<object, KeptPart>()
let keptBytes = 0

/**
 * A part of visitors' pages that is the same for all of them, made once from two objects of the cache and kept while the cache returns the
 * same ones: a change drops an object from the cache, and the part is made again. `make` yields the part's pieces, between which the thread is
 * shared. What differs between visitors must not be in it: hidden ids, signed fields, sent values, slots.
 */
export function keepPart(workspaceId: string, shown: object, source: object, make: () => Iterable<Html>): Promise<Html> {
  const known = parts.get(shown)
  if (known?.source === source) {
    parts.delete(shown)
    parts.set(shown, known)
    return known.html
  }
  drop(shown)
  const part: KeptPart = { source, html: joinPieces(workspaceId, make()), bytes: 0 }
  parts.set(shown, part)
  part.html.then(
    ({ text }) => count(shown, part, Buffer.byteLength(text)),
    () => {
      if (parts.get(shown) === part) drop(shown)
    },
  )
  return part.html
}

async function joinPieces(workspaceId: string, pieces: Iterable<Html>): Promise<Html> {
  let text = ''
  for (const piece of pieces) {
    text += piece.text
    await pauseWhenDue(workspaceId)
  }
  return new Html(text)
}

/** Counts a part once it is made, and drops the ones that were not used for the longest time. */
function count(shown: object, part: KeptPart, bytes: number): void {
  if (parts.get(shown) !== part) return
  part.bytes = bytes
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
