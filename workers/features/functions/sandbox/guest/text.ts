import type { Intrinsics } from '#workers/features/functions/sandbox/guest/intrinsics.ts'

/** How values of a function become text, and text becomes its errors. */
export interface GuestText {
  readonly truncate: (text: string, length: number) => string
  /** A value as the console prints it: text as it is, an error by its stack, anything else as JSON. Never throws for an object. */
  readonly describe: (value: unknown) => string
  /** The message of what was thrown, at most `errorCharacters` long. Never throws. */
  readonly messageOf: (thrown: unknown) => string
  readonly failure: (code: string, message: string) => Error
}

/** Makes them. Its text is evaluated in the isolate, so it names nothing outside itself. */
export function makeGuestText(
  { apply, defineProperty, slice, stringify, tagOf, Failure, Text }: Intrinsics,
  errorCharacters: number,
): GuestText {
  const cut = (text: string, length: number): string => (text.length > length ? apply(slice, text, [0, length]) : text)
  const isError = (value: object): value is Error => apply(tagOf, value, []) === '[object Error]'

  const describe = (value: unknown): string => {
    if (typeof value === 'string') return value
    if (typeof value === 'function') return '[function]'
    if (typeof value !== 'object' || value === null) return Text(value)
    try {
      const stack: unknown = isError(value) ? value.stack : undefined
      return typeof stack === 'string' ? stack : (stringify(value) ?? '[object]')
    } catch {
      return '[object]'
    }
  }

  const speechless = 'the function threw something that has no message'
  const messageOf = (thrown: unknown): string => {
    try {
      if (typeof thrown !== 'object' || thrown === null) return cut(describe(thrown), errorCharacters) || speechless
      const message: unknown = (thrown as Error).message || (isError(thrown) ? thrown.name : undefined)
      const isPlain = typeof message !== 'object' && typeof message !== 'function' && message !== undefined
      return cut(isPlain ? Text(message) : describe(thrown), errorCharacters) || speechless
    } catch {
      return speechless
    }
  }

  const failure = (code: string, value: string): Error => {
    const descriptor = { __proto__: null, value: code, enumerable: true, configurable: true, writable: true }
    return defineProperty(new Failure(value), 'code', descriptor as PropertyDescriptor)
  }

  return { truncate: cut, describe, messageOf, failure }
}
