/** What our code in an isolate needs of the language, taken before any code of the function could change it. */
export interface Intrinsics {
  readonly parse: typeof JSON.parse
  readonly stringify: (value: unknown) => string | undefined
  readonly create: typeof Object.create
  readonly defineProperty: typeof Object.defineProperty
  readonly freeze: typeof Object.freeze
  readonly tagOf: typeof Object.prototype.toString
  readonly apply: typeof Reflect.apply
  readonly slice: typeof String.prototype.slice
  readonly Text: typeof String
  readonly Failure: typeof Error
  readonly WrongType: typeof TypeError
  readonly Pending: typeof Promise
  /** Evaluates a script in the global scope. */
  readonly evaluate: (source: string) => unknown
}

/** Keeps them. Its text is evaluated in the isolate, so it names nothing outside itself. */
export function keepIntrinsics(): Intrinsics {
  const { parse, stringify } = JSON
  const { create, defineProperty, freeze } = Object
  const { apply } = Reflect
  const [tagOf, slice] = [Object.prototype.toString, String.prototype.slice]
  const [Text, Failure, WrongType, Pending] = [String, Error, TypeError, Promise]
  const { eval: evaluate } = globalThis as unknown as { eval: Intrinsics['evaluate'] }
  return { parse, stringify, create, defineProperty, freeze, tagOf, apply, slice, Text, Failure, WrongType, Pending, evaluate }
}
