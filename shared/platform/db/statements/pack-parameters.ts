/** PostgreSQL's protocol counts the parameters of a statement in 16 bits. */
const maxParameters = 65_535

/** The most texts in one array: PostgreSQL walks an array of texts to find an element, so long arrays are slow. */
const arraySize = 100

/** A parameter in a statement's text, with the cast to a single value's type if there is one. */
const parameter = /\$(\d+)(::(?:text|uuid|numeric|date|timestamptz|boolean)\b(?!\[))?/g

/**
 * Packs parameters into arrays of text where a statement has more than the protocol allows, such as the conditions of a caller with very many
 * roles. Only strings and booleans with a cast are packed; slots and other values stay parameters (docs/decisions/parameter-packing.md).
 */
export function packParameters(text: string, bindings: readonly unknown[]): { text: string; bindings: readonly unknown[] } {
  if (bindings.length <= maxParameters) return { text, bindings }
  const packed: unknown[] = []
  let [array, arrayIndex]: [unknown[], number] = [[], 0]
  const pack = (value: unknown): string => {
    if (arrayIndex === 0 || array.length === arraySize) {
      array = []
      arrayIndex = packed.push(array)
    }
    return `($${arrayIndex}::text[])[${array.push(value)}]`
  }
  const shorter = text.replace(parameter, (_, number: string, cast: string | undefined) => {
    const binding = bindings[Number(number) - 1]
    const isSingle = typeof binding === 'string' || typeof binding === 'boolean'
    return cast !== undefined && isSingle ? `${pack(String(binding))}${cast}` : `$${packed.push(binding)}${cast ?? ''}`
  })
  return { text: shorter, bindings: packed }
}
