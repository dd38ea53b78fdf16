import { spawnSync } from 'node:child_process'

/**
 * Arguments in front of a command that send it this signal when its parent ends in any way.
 * Linux only; elsewhere empty, and children of a killed parent keep running.
 * @param {'INT' | 'QUIT' | 'TERM' | 'KILL'} signal
 * @returns {string[]}
 */
export function endWithParent(signal) {
  const command = ['setpriv', '--pdeathsig', signal]
  const works = process.platform === 'linux' && spawnSync(command[0], [...command.slice(1), 'true'], { stdio: 'ignore' }).status === 0
  return works ? command : []
}
