import { spawn } from 'node:child_process'
import { createServer } from 'node:http'

// Answers health checks, and has started a process that would outlive it.
const left = spawn('sleep', ['1000'], { stdio: 'ignore' })
createServer((_, response) => response.end(JSON.stringify({ pid: process.pid, left: left.pid }))).listen(Number(process.env.WORKER_PORT))
console.log(`worker on ${process.env.WORKER_PORT} for ${process.argv.slice(2).join(' ')}`)

process.on('SIGTERM', () => {
  console.log('worker stopped')
  process.exit()
})
