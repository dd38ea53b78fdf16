import type { FieldValue } from '#shared/platform/kernel/field-type.ts'

type Values = Readonly<Record<string, FieldValue>>

/** A record about to be changed or deleted, locked until the transaction ends. */
export interface GuardedChange {
  readonly id: string
  /** All stored values. */
  readonly before: Values
  /** All values after the change; null when the record is deleted. */
  readonly after: Values | null
}

/** A feature's check of changes to records of a built-in type: part of its `feature.ts`. `S` is the scope of the change. */
export interface RecordGuard<S> {
  /** Key of the built-in type. */
  readonly type: string
  /** Guarded fields: a change that touches none of them is not checked. A deletion always is. */
  readonly fields: readonly string[]
  /** Runs in the transaction of the change, after the record is locked and the caller's right checked. Throws a Problem to refuse. */
  readonly check: (scope: S, change: GuardedChange) => Promise<void>
}

/** All record guards, by key of the guarded type. */
export type RecordGuards<S> = ReadonlyMap<string, readonly RecordGuard<S>[]>
