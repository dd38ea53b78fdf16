import type { FloorOptions } from '#bench/floor/type.ts'
import { type Running, startServer } from '#bench/servers/start.ts'

/** Starts the floor's routes. */
export const startFloor = (environment: NodeJS.ProcessEnv, options: FloorOptions): Promise<Running> =>
  startServer('bench/floor/main.ts', { ...environment, FLOOR: JSON.stringify(options) })
