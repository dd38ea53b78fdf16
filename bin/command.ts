import { type Schema, t } from '#shared/platform/kernel/schema.ts'
import { configOf, databaseOf } from './environment.ts'
import { type Operator, withOperator } from './operator.ts'
import type { Shell } from './shell.ts'

/** The answer of a command: a JSON value with `--json`, lines for a person without it. */
export interface CommandResult {
  readonly data: unknown
  readonly lines: readonly string[]
  /** Set when a part of the work failed: the exit code is 1 then. */
  readonly failed?: boolean
}

/** A command of `kontor`. */
export interface Command {
  /** Noun and verb, or the verb alone. */
  readonly name: string
  readonly summary: string
  /** Its options, in the order in which they may be given without their names. `expires_at` is written `--expires-at`. */
  readonly options: Schema<unknown>
  /** Checks the options, then does the work. Throws VALIDATION_ERROR when the command was written wrongly. */
  readonly run: (given: unknown, shell: Shell) => Promise<CommandResult>
}

interface Declaration<Options, Place> extends Pick<Command, 'name' | 'summary'> {
  readonly options: Schema<Options>
  readonly run: (options: Options, place: Place) => Promise<CommandResult>
}

/** Declares a command that uses nothing but the API, and may print before it ends. */
export const apiCommand = <Options>({ run, ...declaration }: Declaration<Options, Shell>): Command => ({
  ...declaration,
  run: (given, shell) => run(declaration.options.parse(given), shell),
})

/** Options of every command that calls the API. */
export const apiOptions = {
  url: t.Optional(t.String({ description: 'base address of the API; KONTOR_URL, or the one that npm start left here' })),
  key: t.Optional(t.String({ description: 'access key; KONTOR_KEY, or the one that npm start left here' })),
  org: t.Optional(t.String({ description: 'id of the workspace; KONTOR_ORG, or the only one of the key' })),
}

/** Declares a command that uses nothing but the database of this address, in any state. */
export const databaseCommand = <Options>({ run, ...declaration }: Declaration<Options, string>): Command =>
  apiCommand({ ...declaration, run: (options, { environment }) => run(options, databaseOf(environment)) })

/** Declares a command that uses what the processes use. `secrets`: it stores something encrypted, so it needs their SECRET_KEY. */
export const command = <Options>({ run, secrets, ...declaration }: Declaration<Options, Operator> & { secrets?: true }): Command =>
  apiCommand({
    ...declaration,
    run: (options, { environment }) => withOperator(configOf(environment, secrets), (operator) => run(options, operator)),
  })
