import { runCommand } from './run-command.ts'

// `kontor <noun> <verb>`: the operator's command line.
process.exitCode = await runCommand(process.argv.slice(2), {
  environment: process.env,
  out: process.stdout,
  err: process.stderr,
  input: process.stdin,
  interruption: () => {
    const interrupted = new AbortController()
    // A second one ends the process at once.
    process.once('SIGINT', () => interrupted.abort())
    return interrupted.signal
  },
})
