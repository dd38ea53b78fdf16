import { registerHooks } from 'node:module'

// Every test file loads all of Kontor in a thread of its own, some 900 files that name each other by `#`. What such a name means is told
// here without looking into package.json and at the file each time: loading takes 1.4 s of processor time instead of 2.0.

const root = new URL('../../', import.meta.url).href
const ours = /^#(api|bench|scripts|shared|test|workers)\//

registerHooks({
  resolve: (specifier, context, next) =>
    ours.test(specifier) ? { url: root + specifier.slice(1), format: 'module-typescript', shortCircuit: true } : next(specifier, context),
})
