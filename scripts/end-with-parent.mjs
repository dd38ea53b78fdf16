import { spawnSync } from 'node:child_process'

/**
 * What to put before a command so that it gets this signal when the process that started it dies, however that dies.
 * Linux only; elsewhere nothing, and a killed parent leaves its children behind.
 * @param {'INT' | 'QUIT' | 'TERM' | 'KILL'} signal
 * @returns {string[]}
 */
export function endWithParent(signal) {
  const command = ['setpriv', '--pdeathsig', signal]
  const works = process.platform === 'linux' && spawnSync(command[0], [...command.slice(1), 'true'], { stdio: 'ignore' }).status === 0
  return works ? command : []
}
