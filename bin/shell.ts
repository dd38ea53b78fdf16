import type { Environment } from './environment.ts'

/** What a command gets from the shell: the environment, input, and ways to print while it runs. */
export interface Shell {
  readonly environment: Environment
  /** Prints lines at once; does nothing with `--json`. */
  readonly print: (lines: readonly string[]) => void
  /** Stream for progress bars, which are drawn only on a terminal. */
  readonly terminal: Terminal
  /** Typed or piped input. */
  readonly input: AsyncIterable<string | Uint8Array>
}

export interface Terminal {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly write: (text: string) => unknown
}
