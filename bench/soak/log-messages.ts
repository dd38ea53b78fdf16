/** Log lines of the processes, grouped by message. */
export interface LogMessages {
  readonly add: (name: string, line: string) => void
  /** Each message and its count, the most frequent first. */
  readonly all: () => readonly (readonly [string, number])[]
}

interface Line {
  readonly level?: number
  readonly msg?: string
  readonly err?: { readonly message?: string; readonly code?: string }
}

export function collectLogMessages(): LogMessages {
  const counts = new Map<string, number>()
  return {
    add: (name, line) => {
      const text = `${name.replace(/ \d+$/, '')}: ${shortened(line)}`
      counts.set(text, (counts.get(text) ?? 0) + 1)
    },
    all: () => [...counts].toSorted(([, one], [, other]) => other - one),
  }
}

function shortened(line: string): string {
  if (!line.startsWith('{')) return line.slice(0, 120)
  const { msg = '', err } = JSON.parse(line) as Line
  return err ? `${msg} (${err.code ?? ''} ${err.message?.slice(0, 80) ?? ''})` : msg
}
