/** A part of the driver without published types. */
declare module 'pg/lib/utils.js' {
  /** Converts a parameter to its wire form. Throws for values without a text form, such as circular objects. */
  export function prepareValue(value: unknown): string | Buffer | null
}
