import { Counter, Histogram, type Registry } from 'prom-client'
import type { ByteStore } from '#shared/platform/blobs/byte-store.ts'
import { addGauge } from '#shared/platform/kernel/metrics.ts'

/**
 * Registers metrics of the file store: duration of calls, transferred bytes, and free bytes of the disk that uploads are written to. Returns a
 * function that wraps a store to count them.
 */
export function registerStoreMetrics(registry: Registry): (store: ByteStore) => ByteStore {
  const seconds = new Histogram({
    name: 'kontor_store_seconds',
    help: 'Duration of calls to the file store, by operation and outcome: a write lasts until its last byte, a read until its first',
    labelNames: ['operation', 'outcome'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2, 10, 60],
    registers: [registry],
  })
  const bytes = new Counter({
    name: 'kontor_store_bytes_total',
    help: 'Bytes written to or read from the file store',
    labelNames: ['direction'],
    registers: [registry],
  })
  const timed = async <T>(operation: string, call: () => Promise<T>, outcomeOf = () => 'failed'): Promise<T> => {
    const end = seconds.startTimer({ operation })
    try {
      const result = await call()
      end({ outcome: 'done' })
      return result
    } catch (error) {
      end({ outcome: outcomeOf() })
      throw error
    }
  }
  const open = new Set<ByteStore>()
  const help = 'Free bytes of the disk that uploads are written to: the spool below DATA_DIR, or the files themselves without S3'
  addGauge(registry, 'kontor_spool_free_bytes', help, [], async () => {
    const free = await Promise.all([...open].map((store) => store.freeBytes().catch(() => 0)))
    return free.length === 0 ? [] : [{ labels: {}, value: Math.min(...free) }]
  })
  const wrap = (store: ByteStore): ByteStore => ({
    kind: store.kind,
    write: (id, source) => {
      let isCut = false
      const counted = async function* () {
        try {
          for await (const piece of source) {
            bytes.inc({ direction: 'written' }, piece.length)
            yield piece
          }
        } catch (error) {
          isCut = true
          throw error
        }
      }
      return timed(
        'write',
        () => store.write(id, counted()),
        () => (isCut ? 'cut' : 'failed'),
      )
    },
    read: async (id, range) => {
      const stream = await timed('read', () => store.read(id, range))
      return stream.on('data', (piece: Uint8Array) => bytes.inc({ direction: 'read' }, piece.length)).pause()
    },
    remove: (ids) => (ids.length === 0 ? Promise.resolve() : timed('remove', () => store.remove(ids))),
    identity: () => store.identity(),
    identify: (id) => store.identify(id),
    freeBytes: () => store.freeBytes(),
    close: () => {
      open.delete(store)
      store.close()
    },
  })
  return (store) => {
    open.add(store)
    return wrap(store)
  }
}
