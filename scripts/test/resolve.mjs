import { registerHooks } from 'node:module'

// A test thread loads some 900 files that import each other by `#`. This hook resolves these names without reading package.json and probing
// files each time: loading takes 1.4 s of processor time instead of 2.0. It also resolves `ava` for files that share a thread.

const root = new URL('../../', import.meta.url).href
const ours = /^#(api|bench|scripts|shared|test|workers)\//
const inSection = /\/test\/(.*\.test\.ts)\?section$/

const resolved = (path) => ({ url: root + path, format: 'module-typescript', shortCircuit: true })

registerHooks({
  resolve: (specifier, context, next) => {
    if (ours.test(specifier)) return resolved(specifier.slice(1))
    const [, file] = (specifier === 'ava' && inSection.exec(context.parentURL ?? '')) || []
    return file ? resolved(`scripts/test/section.ts?of=${encodeURIComponent(file)}`) : next(specifier, context)
  },
})
