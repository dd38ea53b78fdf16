import type { Environment } from './environment.ts'

/** The shell that a command was called from: what it may read of it, and where it shows what happens before it ends. */
export interface Shell {
  readonly environment: Environment
  /** Shows lines to a person at once; a program that asked for JSON is not shown them. */
  readonly print: (lines: readonly string[]) => void
  /** Where a progress bar is drawn, when it is a terminal. */
  readonly terminal: Terminal
  /** What is typed or piped into the command. */
  readonly input: AsyncIterable<string | Uint8Array>
}

export interface Terminal {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly write: (text: string) => unknown
}
