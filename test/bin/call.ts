import type { Answer } from '#test/support/send-request.ts'
import type { World } from '#test/support/world.ts'
import { runCommand } from '../../bin/run-command.ts'

/** The output of a command. */
export interface Called {
  readonly code: number
  readonly out: string
  readonly err: string
  /** Its result, or its failure as `{error}`, when it was called with `--json`. */
  readonly json: Answer['data']
}

/** Runs `kontor` with these arguments on a world's database. */
export function callKontor(w: Pick<World, 'config'>, ...args: readonly string[]): Promise<Called> {
  return callWith(
    { DATABASE_URL: w.config.databaseUrl, DATA_DIR: w.config.dataDir, SECRET_KEY: w.config.secretKey.toString('hex') },
    ...args,
  )
}

/** Runs `kontor` with these variables. */
export const callWith = (environment: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Called> =>
  callTyping(environment, undefined, ...args)

/** The same with this input. */
export async function callTyping(
  environment: Readonly<Record<string, string>>,
  input: AsyncIterable<string> | undefined,
  ...args: readonly string[]
): Promise<Called> {
  const [out, err] = [collector(), collector()]
  const code = await runCommand(args, { environment, out, err, ...(input && { input }) })
  const json = args.includes('--json') ? JSON.parse(out.text() || err.text()) : undefined
  return { code, out: out.text(), err: err.text(), json }
}

function collector() {
  const parts: string[] = []
  return { write: (text: string) => parts.push(text), text: () => parts.join('') }
}
