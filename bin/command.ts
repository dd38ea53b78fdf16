import type { Database } from '#shared/db/database.ts'
import type { Schema } from '#shared/kernel/schema.ts'
import type { PlatformScope } from '#shared/scope/scope.ts'
import type { Shell } from './shell.ts'

/** What a command works in: the platform itself, on nobody's behalf. */
export interface Operator extends PlatformScope {
  readonly db: Database
}

/** What a command has to say: to a program with `--json`, or in lines to a person. */
export interface Outcome {
  readonly data: unknown
  readonly lines: readonly string[]
  /** Set when part of it could not be done: the exit code says so then. */
  readonly failed?: boolean
}

/** A command of `kontor` by its noun and verb, or by its verb alone. */
interface Declaration<Options> {
  readonly name: string
  readonly summary: string
  /** Its options, in the order in which they may be given without their names. `expires_at` is given as `--expires-at`. */
  readonly options: Schema<Options>
}

/** A command whose options are still to be read: `prepare` checks them, and what it returns does the work in `Place`. */
interface Prepared<Place> extends Declaration<unknown> {
  readonly prepare: (given: unknown) => (place: Place) => Promise<Outcome>
}

/** Whether it keeps something encrypted, for which it needs the SECRET_KEY that the processes have. */
type PlatformCommand = Prepared<Operator> & { readonly on: 'platform'; readonly secrets: boolean }
type DatabaseCommand = Prepared<string> & { readonly on: 'database' }
type ApiCommand = Prepared<Shell> & { readonly on: 'api' }
export type Command = PlatformCommand | DatabaseCommand | ApiCommand

/** Declares a command that works with all that the processes have. */
export const command = <Options>(
  declaration: Declaration<Options> & { secrets?: true; run: (options: Options, operator: Operator) => Promise<Outcome> },
): PlatformCommand => ({ ...prepared(declaration), on: 'platform', secrets: declaration.secrets ?? false })

/** Declares a command that works on the database of this address alone, whatever state that is in. */
export const databaseCommand = <Options>(
  declaration: Declaration<Options> & { run: (options: Options, databaseUrl: string) => Promise<Outcome> },
): DatabaseCommand => ({ ...prepared(declaration), on: 'database' })

/** Declares a command that knows Kontor by its API alone, and says what happens before it ends. */
export const apiCommand = <Options>(
  declaration: Declaration<Options> & { run: (options: Options, shell: Shell) => Promise<Outcome> },
): ApiCommand => ({ ...prepared(declaration), on: 'api' })

function prepared<Options, Place>({
  run,
  ...declaration
}: Declaration<Options> & { run: (options: Options, place: Place) => Promise<Outcome> }): Prepared<Place> {
  const prepare = (given: unknown) => {
    const options = declaration.options.parse(given)
    return (place: Place) => run(options, place)
  }
  return { ...declaration, prepare }
}
