import { runCommand } from './run-command.ts'

// A reader that has enough, such as `head`, closes the pipe.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(0)
})

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
