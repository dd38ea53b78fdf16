#!/usr/bin/env node
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { launch } from '../scripts/launch.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
await launch(root, [join(root, 'bin', 'kontor.ts'), ...process.argv.slice(2)], { development: false })
