import { writeFileSync } from 'node:fs'
import { makeContractTables } from './contract/all-tables.ts'
import { fillTables } from './contract/fill-tables.ts'
import { readContractPages, unplacedTables } from './contract/pages.ts'

// `npm run contract-tables`: writes the tables that the code holds into the pages of docs/contract, after their markers.

const tables = makeContractTables()
const pages = readContractPages()

for (const { path, file, text } of pages) {
  try {
    const filled = fillTables(text, tables)
    if (filled === text) continue
    writeFileSync(file, filled)
    console.log(path)
  } catch (error) {
    fail(`${path}: ${(error as Error).message}`)
  }
}
for (const name of unplacedTables(pages, tables)) fail(`no page of docs/contract has the marker <!-- table: ${name} -->`)

function fail(message: string): void {
  console.error(message)
  process.exitCode = 1
}
