import { atMost } from '#shared/kernel/at-most.ts'

/**
 * Runs work that goes by the same key one piece after the other in this process, first come, first served; work of other keys goes on
 * beside it. Whoever waits here holds no connection of the database, as whoever waits for a lock there does.
 */
export function turns(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const lanes = new Map<string, { readonly run: ReturnType<typeof atMost>; inside: number }>()
  return async (key, work) => {
    const lane = lanes.get(key) ?? { run: atMost(1), inside: 0 }
    lanes.set(key, lane)
    lane.inside += 1
    try {
      return await lane.run(work)
    } finally {
      lane.inside -= 1
      if (lane.inside === 0) lanes.delete(key)
    }
  }
}
