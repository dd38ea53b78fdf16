/** A part of the driver that its published types leave out. */
declare module 'pg/lib/utils.js' {
  /** A parameter as it goes to the database. Throws for what cannot be written as text, such as objects in a circle. */
  export function prepareValue(value: unknown): string | Buffer | null
}
