/** Maximum size of a group. An item that is larger than `size` forms a group of its own. */
export interface GroupLimits {
  readonly items: number
  readonly size: number
}

/** The items in their order, in groups within the limits. */
export async function* groupBySize<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
  sizeOf: (item: Item) => number,
  limits: GroupLimits,
): AsyncGenerator<readonly Item[]> {
  let [group, total]: [Item[], number] = [[], 0]
  for await (const item of items) {
    const size = sizeOf(item)
    if (group.length > 0 && (group.length === limits.items || total + size > limits.size)) {
      yield group
      ;[group, total] = [[], 0]
    }
    group.push(item)
    total += size
  }
  if (group.length > 0) yield group
}
