/** The next value of a source. */
interface Head<T> {
  value: T
  readonly source: Iterator<T | undefined>
}

/**
 * Merges ordered sources lazily into one ordered sequence, with a binary heap of their next values. When a source yields undefined, so does
 * the sequence: the reader may pause there.
 */
export function* mergeInOrder<T>(sources: Iterable<Iterator<T | undefined>>, compare: (a: T, b: T) => number): Generator<T | undefined> {
  const heap: Head<T>[] = []
  for (const source of sources) {
    const value = yield* nextOf(source)
    if (value !== undefined) siftUp(heap, { value, source }, compare)
    yield undefined
  }
  for (let head = heap[0]; head; head = heap[0]) {
    yield head.value
    const value = yield* nextOf(head.source)
    if (value !== undefined) head.value = value
    const moved = value === undefined ? heap.pop() : head
    if (moved && heap.length > 0) siftDown(heap, moved, compare)
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

function siftUp<T>(heap: Head<T>[], head: Head<T>, compare: (a: T, b: T) => number): void {
  let index = heap.push(head) - 1
  while (index > 0) {
    const parentIndex = (index - 1) >> 1
    const parent = heap[parentIndex] as Head<T>
    if (compare(parent.value, head.value) <= 0) break
    heap[index] = parent
    index = parentIndex
  }
  heap[index] = head
}

/** Replaces the head at the top of the heap, and moves the new one down to its place. */
function siftDown<T>(heap: Head<T>[], head: Head<T>, compare: (a: T, b: T) => number): void {
  let index = 0
  for (;;) {
    let childIndex = 2 * index + 1
    if (childIndex >= heap.length) break
    const [left, right] = [heap[childIndex] as Head<T>, heap[childIndex + 1]]
    if (right && compare(right.value, left.value) < 0) childIndex += 1
    const child = heap[childIndex] as Head<T>
    if (compare(head.value, child.value) <= 0) break
    heap[index] = child
    index = childIndex
  }
  heap[index] = head
}
