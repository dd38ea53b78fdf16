/** Memoizes results by object identity; a result is garbage-collected with its object. */
export function memoizeByObject<Key extends object, Result>(make: (key: Key) => Result): (key: Key) => Result {
  const results = new WeakMap<Key, { readonly result: Result }>()
  return (key) => {
    const found = results.get(key)
    if (found) return found.result
    const result = make(key)
    results.set(key, { result })
    return result
  }
}
