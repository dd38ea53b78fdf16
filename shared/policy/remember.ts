/** Makes the result for an object once and keeps it for as long as the object lives. */
export function rememberByObject<Key extends object, Result>(make: (key: Key) => Result): (key: Key) => Result {
  const kept = new WeakMap<Key, { readonly result: Result }>()
  return (key) => {
    const found = kept.get(key)
    if (found) return found.result
    const result = make(key)
    kept.set(key, { result })
    return result
  }
}
