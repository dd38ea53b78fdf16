import { runCommand } from './run-command.ts'

// `kontor <noun> <verb>`: the operator's command line.
process.exitCode = await runCommand(process.argv.slice(2), {
  environment: process.env,
  out: process.stdout,
  err: process.stderr,
  input: process.stdin,
})
