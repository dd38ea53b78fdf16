import type { Intrinsics } from '#workers/features/functions/sandbox/guest/setup.ts'

/** Converts values of a function to text, and text to errors. */
export interface GuestText {
  readonly truncate: (text: string, length: number) => string
  /** A value as the console prints it: text unchanged, an error by its stack, other values as JSON. Never throws for an object. */
  readonly describe: (value: unknown) => string
  /** The message of a thrown value, at most `errorCharacters` long. Never throws. */
  readonly messageOf: (thrown: unknown) => string
  readonly errorWithCode: (code: string, message: string) => Error
}

/** Creates the conversions. The isolate evaluates the text of this function, so the function may use only its parameters. */
export function createGuestText(
  { apply, defineProperty, slice, stringify, tagOf, SavedError, SavedString }: Intrinsics,
  errorCharacters: number,
): GuestText {
  const truncate = (text: string, length: number): string => (text.length > length ? apply(slice, text, [0, length]) : text)
  const isError = (value: object): value is Error => apply(tagOf, value, []) === '[object Error]'

  const describe = (value: unknown): string => {
    if (typeof value === 'string') return value
    if (typeof value === 'function') return '[function]'
    if (typeof value !== 'object' || value === null) return SavedString(value)
    try {
      const stack: unknown = isError(value) ? value.stack : undefined
      return typeof stack === 'string' ? stack : (stringify(value) ?? '[object]')
    } catch {
      return '[object]'
    }
  }

  const noMessage = 'the function threw something that has no message'
  const messageOf = (thrown: unknown): string => {
    try {
      if (typeof thrown !== 'object' || thrown === null) return truncate(describe(thrown), errorCharacters) || noMessage
      const message: unknown = (thrown as Error).message || (isError(thrown) ? thrown.name : undefined)
      const isPrimitive = typeof message !== 'object' && typeof message !== 'function' && message !== undefined
      return truncate(isPrimitive ? SavedString(message) : describe(thrown), errorCharacters) || noMessage
    } catch {
      return noMessage
    }
  }

  const errorWithCode = (code: string, message: string): Error => {
    const descriptor = { __proto__: null, value: code, enumerable: true, configurable: true, writable: true }
    return defineProperty(new SavedError(message), 'code', descriptor as PropertyDescriptor)
  }

  return { truncate, describe, messageOf, errorWithCode }
}
