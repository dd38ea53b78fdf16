import type { Environment } from './environment.ts'

/** What a command gets from the shell: the environment, input, and ways to print while it runs. */
export interface Shell {
  readonly environment: Environment
  /** Prints lines at once; does nothing with `--json`. */
  readonly print: (lines: readonly string[]) => void
  /** Prints values of a result that has no end at once: as JSON with `--json`, else these lines; without lines as JSON in any case. */
  readonly printResult: (values: readonly unknown[], lines?: readonly string[]) => void
  /** Aborts when the command is interrupted (SIGINT), which then does not end the process. */
  readonly interruption: () => AbortSignal
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
