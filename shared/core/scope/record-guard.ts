import type { FieldValue } from '#shared/platform/kernel/field-type.ts'

type Values = Readonly<Record<string, FieldValue>>

/** A record that is about to change or to go, locked until the transaction ends. */
export interface GuardedChange {
  readonly id: string
  /** All values as they are stored. */
  readonly before: Values
  /** All values as they will be; null when the record is deleted. */
  readonly after: Values | null
}

/** What a room may refuse about the records of a built-in type: one row of `shared/guards.ts`. `S` is the scope of the change. */
export interface RecordGuard<S> {
  /** Key of the built-in type. */
  readonly type: string
  /** The fields that it minds: a change that leaves them all alone is not asked about. A deletion always is. */
  readonly fields: readonly string[]
  /** Asked in the transaction of the change, once the record is locked and its caller may change it; throws what is refused, a Problem. */
  readonly check: (scope: S, change: GuardedChange) => Promise<void>
}

/** The guards of every process, by the key of the type that they mind. */
export type RecordGuards<S> = ReadonlyMap<string, readonly RecordGuard<S>[]>
