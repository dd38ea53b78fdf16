interface Head<T> {
  value: T
  readonly source: Iterator<T | undefined>
}

/**
 * Merges sources that are each in order into one in order, reading no further than is asked for: a binary heap of the next value of each.
 * Undefined from a source is passed on: the reader may pause there.
 */
export function* mergeInOrder<T>(sources: Iterable<Iterator<T | undefined>>, compare: (a: T, b: T) => number): Generator<T | undefined> {
  const heap: Head<T>[] = []
  for (const source of sources) {
    const value = yield* nextOf(source)
    if (value !== undefined) rise(heap, { value, source }, compare)
    yield undefined
  }
  for (let head = heap[0]; head; head = heap[0]) {
    yield head.value
    const value = yield* nextOf(head.source)
    const last = value === undefined ? heap.pop() : head
    if (value !== undefined) head.value = value
    if (last && heap.length > 0) sink(heap, last, compare)
  }
}

/** The next value of a source, undefined at its end. */
function* nextOf<T>(source: Iterator<T | undefined>): Generator<undefined, T | undefined> {
  for (;;) {
    const { value, done } = source.next()
    if (done) return undefined
    if (value !== undefined) return value
    yield undefined
  }
}

function rise<T>(heap: Head<T>[], head: Head<T>, compare: (a: T, b: T) => number): void {
  let at = heap.push(head) - 1
  while (at > 0) {
    const above = (at - 1) >> 1
    const parent = heap[above] as Head<T>
    if (compare(parent.value, head.value) <= 0) break
    heap[at] = parent
    at = above
  }
  heap[at] = head
}

/** Puts a head in at the top, and moves it down to its place. */
function sink<T>(heap: Head<T>[], head: Head<T>, compare: (a: T, b: T) => number): void {
  let at = 0
  for (;;) {
    let below = 2 * at + 1
    if (below >= heap.length) break
    const [left, right] = [heap[below] as Head<T>, heap[below + 1]]
    if (right && compare(right.value, left.value) < 0) below += 1
    const child = heap[below] as Head<T>
    if (compare(head.value, child.value) <= 0) break
    heap[at] = child
    at = below
  }
  heap[at] = head
}
