/** PostgreSQL's protocol counts the parameters of a statement in 16 bits. */
const mostParameters = 65_535

/** Texts in one array: PostgreSQL finds an element by walking there. */
const perArray = 100

/** A place in a statement's text: a parameter, and the cast to a single value's type where there is one. */
const place = /\$(\d+)(::(?:text|uuid|numeric|date|timestamptz|boolean)\b(?!\[))?/g

/**
 * A statement of more parameters than the protocol knows, with those that say what they are put into arrays of text: the conditions of
 * somebody in very many roles. Others stay as they are, slots too.
 */
export function packParameters(text: string, bindings: readonly unknown[]): { text: string; bindings: readonly unknown[] } {
  if (bindings.length <= mostParameters) return { text, bindings }
  const packed: unknown[] = []
  let [array, arrayIndex]: [unknown[], number] = [[], 0]
  const pack = (value: unknown): string => {
    if (arrayIndex === 0 || array.length === perArray) {
      array = []
      arrayIndex = packed.push(array)
    }
    return `($${arrayIndex}::text[])[${array.push(value)}]`
  }
  const shorter = text.replace(place, (_, number: string, cast: string | undefined) => {
    const binding = bindings[Number(number) - 1]
    const isSingle = typeof binding === 'string' || typeof binding === 'boolean'
    return cast !== undefined && isSingle ? `${pack(String(binding))}${cast}` : `$${packed.push(binding)}${cast ?? ''}`
  })
  return { text: shorter, bindings: packed }
}
