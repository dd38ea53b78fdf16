import { type Schema, t } from '#shared/platform/kernel/schema.ts'
import type { ProcessKind } from '#shared/services.ts'
import { type CommandScope, withCommandScope } from './command-scope.ts'
import { configOf, databaseOf, type Environment } from './environment.ts'
import type { Shell } from './shell.ts'

/** Result of a command: `data` is printed as JSON with `--json`, unless it is undefined; `lines` are printed without it. */
export interface CommandResult {
  readonly data: unknown
  readonly lines: readonly string[]
  /** True when a part of the work failed; the exit code is then 1. */
  readonly failed?: boolean
}

/** A command of `kontor`. */
export interface Command {
  /** Noun and verb, or the verb alone. */
  readonly name: string
  readonly summary: string
  /** Options in the order of their positional arguments. `expires_at` is written `--expires-at`. */
  readonly options: Schema<unknown>
  /** Validates the options, then does the work. Throws VALIDATION_ERROR for invalid options. */
  readonly run: (given: unknown, shell: Shell) => Promise<CommandResult>
}

interface Declaration<Options, Context> extends Pick<Command, 'name' | 'summary'> {
  readonly options: Schema<Options>
  readonly run: (options: Options, context: Context, shell: Shell) => Promise<CommandResult>
}

/** Declares a command that uses only the API and may print before it ends. */
export const apiCommand = <Options>(declaration: Declaration<Options, Shell>): Command => declare(declaration)

/** Common options of the commands that call the API. */
export const apiOptions = {
  url: t.Optional(t.String({ description: 'base address of the API; default: KONTOR_URL, else the address in DATA_DIR/bootstrap.json' })),
  key: t.Optional(
    t.String({ description: 'access key; default: KONTOR_KEY, else, without a given address, the key in DATA_DIR/bootstrap.json' }),
  ),
  org: t.Optional(t.String({ description: 'id of the workspace; default: KONTOR_ORG, else the only workspace of the key' })),
}

/** Declares a command that gets only the database's address; the database may be in any state. */
export const databaseCommand = <Options>({ run, ...declaration }: Declaration<Options, string>): Command =>
  declare({ ...declaration, run: (options, shell) => run(options, databaseOf(shell.environment), shell) })

/**
 * Declares a command that uses the services of a Kontor process. Set `secrets` if it stores encrypted data: SECRET_KEY is then required. Where
 * it is set, it must be the key of the installation, unless `secrets` is `unchecked`: another key is a sign of another DATABASE_URL.
 */
export const command = <Options>({ run, secrets, ...declaration }: Declaration<Options, CommandScope> & Secrets): Command =>
  declare({
    ...declaration,
    run: (options, shell) => {
      const { environment } = shell
      const config = configOf(environment, secrets !== undefined)
      return withCommandScope(config, (platform) => run(options, platform, shell), keyOf(secrets, environment))
    },
  })

function keyOf(secrets: Secrets['secrets'], { SECRET_KEY }: Environment): ProcessKind['key'] {
  if (secrets === true) return 'held'
  return secrets === undefined && SECRET_KEY ? 'checked' : 'unchecked'
}

interface Secrets {
  readonly secrets?: true | 'unchecked'
}

const declare = <Options>({ run, ...declaration }: Declaration<Options, Shell>): Command => ({
  ...declaration,
  run: (given, shell) => run(declaration.options.parse(given), shell, shell),
})
